// Package wandb uploads runs to Weights & Biases.
//
// A [Publisher] uploads each run after its local files are written: configuration, tags, a table of the results, the
// results as values of the summary, and the files as an artifact. It makes the requests that the service's own client
// makes. Off line it writes the run in the format of that client instead, for "wandb sync".
//
// The invariant: requests are made on one goroutine, within a limit, and only [Publisher.Wait] waits for it. A service
// that fails, or an error of the package, costs one line of the log. The package must never know the configuration or
// how results are computed.
package wandb
