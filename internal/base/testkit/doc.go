// Package testkit is what tests of several packages share: the switch for their long versions, how many of them run at
// once, loopback addresses at which nobody listens, and the check that documents are read as they were written. Only
// tests import it.
package testkit
