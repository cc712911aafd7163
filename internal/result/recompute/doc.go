// Package recompute computes the files of a run again from its recordings, without a server: results from the records
// file and the state file ([Report]), server metrics from recorded scrapes.
//
// Vocabulary: a recording is a JSONL file with one line for each scrape; its sidecar, a file next to it, has what the
// lines lack; a bare recording has no sidecar. Recordings are merged by endpoint.
//
// Invariants: without options, a recording of this program yields the files of the live run, byte by byte. Lines are
// read one at a time; only the store grows with their number. The package never sends a request and never changes the
// recordings.
package recompute
