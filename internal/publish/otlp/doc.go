// Package otlp pushes the figures of a run, while it goes on, to an OpenTelemetry collector: OTLP over HTTP or gRPC, by
// the official SDK and its exporters.
//
// A Stream takes finished requests into a bounded buffer and adds them to histograms on a goroutine of its own; another
// goroutine collects these and the load's counters at an interval and pushes them. Nothing of that is waited for by the
// run. Sums are cumulative unless the environment asks for deltas, so that a push that fails loses nothing that the
// next one does not bring.
//
// Names follow the GenAI conventions of OpenTelemetry where they have one, else they are aiperf.<tag> and
// aiperf.timing.<name>: see convention.go and timing.go.
package otlp
