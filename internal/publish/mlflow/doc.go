// Package mlflow tracks runs on an MLflow server, over its REST interface.
//
// A Tracker is one benchmark run. It creates the MLflow run when the load begins, adds scalars to it while the load
// runs, and after the local files are written uploads results, parameters, tags and files. All of that happens on one
// goroutine of its own; nothing waits for the server but Wait, within a limit. A server that fails costs one line of
// the log.
package mlflow
