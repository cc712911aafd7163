// Package page counts what the mock server does and shows the counts as the metrics pages of inference servers and of
// GPU exporters.
//
// An [Account] enters the moments of one request in the [Tally]. An [Exporter] writes the pages: each is a table of
// families, whose values come from the totals of the tally; it is compiled once into fixed text and places for numbers.
//
// Invariants: what a client can know is counted before the client can know it: a reply is in the tally before its last
// bytes are written, so that a client which scrapes after its last reply finds all of its own. Entering a moment
// allocates nothing and takes one lock.
//
// The package must never know connections: it makes the bytes of a page, and others send them.
package page
