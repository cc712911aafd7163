// Package mlflow tracks runs on an MLflow server, over its REST API.
//
// A [Publisher] has a tracker for each run. It creates the MLflow run when the load begins, adds scalars to it while
// the load runs, and uploads results, parameters, tags and files after the local files are written.
//
// The invariant: requests to the server are made on one goroutine of the tracker, and only [Publisher.Wait] waits for
// it, within a limit. A server that fails costs one line of the log. The package must never know the configuration, the
// load generator or how results are computed.
package mlflow
