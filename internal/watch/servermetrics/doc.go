// Package servermetrics turns the samples that Prometheus endpoints of the servers under test returned during a run
// into statistics of its profiling phase.
//
// Vocabulary: a scrape is one successful, non-empty response of an endpoint; a series is one label set of a
// family at one endpoint; a sample is the value of a series in one scrape; an update is a scrape whose body
// differs from the one before; the window is the profiling phase, widened per endpoint to its last update;
// the reference of a series is its last sample before the window, 0 of a counter or histogram that a page before did
// not have; a slice is a stretch of the window of the
// asked-for length.
//
// The invariant: every result is a function of the samples in order of time (equal times: of arrival), as if
// they were in plain lists, however compactly the store keeps them and in whatever order they came. The package must
// never know how pages are scraped or files are written.
//
// It also compares what a run counted with what the server counted over the same time.
//
// Vocabulary: a quantity is something that both sides count; a row is one quantity with both counts; the borders are
// the first and the last scrape, and what was in flight there may stand in one count and not in the other; a cause is
// the likely reason of a difference that the borders do not explain.
//
// The invariant: the result is a function of the two counts and of what the run knows of its own course. A count that
// cannot be compared is an absent row with its reason, never a number.
package servermetrics
