// Package export writes the server metrics of a run: JSON, CSV and Parquet, the legacy JSON, and the
// recording, from which internal/result/recompute makes the others again.
//
// Vocabulary: an exporter writes one file when the run is over; the recorder writes one line for each scrape
// while it goes on, and next to the lines the sidecar, which holds what the lines lack; an info family is a
// gauge or unknown family whose name ends in _info: it carries its message in its labels.
//
// The invariant: every file is a function of the store, the results and Info alone. No byte depends on a clock, a host
// name, the environment or the order of a map, so that a recording gives the same files again.
package export
