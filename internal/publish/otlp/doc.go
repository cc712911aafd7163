// Package otlp pushes the metrics of a run to an OpenTelemetry collector while the run goes on: OTLP over HTTP or gRPC,
// with the official SDK and its exporters.
//
// A [Publisher] has a stream for each run. It takes finished requests into a bounded buffer and adds them to histograms
// on a goroutine of its own; another goroutine collects these and the load's counters at an interval and pushes them.
// Sums are cumulative unless the environment asks for deltas, so that the next push replaces one that failed.
//
// Names follow the GenAI conventions of OpenTelemetry where they have one. All others are aiperf.<tag> and
// aiperf.timing.<name>: see convention.go and timing.go.
//
// The invariant: the run waits for nothing but [Publisher.Flush], which is bounded, and requests that find no room are
// counted and reported. The package must never know the configuration or the load generator.
package otlp
