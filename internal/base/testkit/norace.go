//go:build !race

package testkit

// Race reports whether the race detector is on: what is pooled is then dropped at random, so that it is allocated again.
const Race = false
