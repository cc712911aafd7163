// Package recompute computes the files of a run anew from its recordings, without a server.
//
// Vocabulary: a recording is a JSONL file with one line for each scrape; the sidecar beside it holds what the
// lines lack; a bare recording has none. Recordings are merged: what they hold about one endpoint is one.
//
// The invariant: from a recording of this program, without any option, come the files of the live run, byte by
// byte. Lines are read one at a time; only the store grows with their number.
package recompute
