// Package testkit is what tests of several packages share: the switch for their long versions, how many of them run at
// once, and loopback addresses at which nobody listens. Only tests import it.
package testkit
