// Package servermetrics turns the samples that Prometheus endpoints of the servers under test returned during a run
// into statistics of its profiling phase.
//
// Vocabulary: a scrape is one successful, non-empty response of an endpoint; a series is one label set of a
// family at one endpoint; a sample is the value of a series in one scrape; an update is a scrape whose body
// differs from the one before; the window is the profiling phase, widened per endpoint to its last update;
// the reference of a series is its last sample before the window; a slice is a stretch of the window of the
// asked-for length.
//
// The invariant: every result is a function of the samples in order of time (equal times: of arrival), as if
// they were in plain lists, however compactly the store keeps them and in whatever order they came. The package must
// never know how pages are scraped or files are written.
package servermetrics
