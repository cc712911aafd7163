//go:build !windows

package testkit

// UnderWine reports whether this program runs under Wine.
func UnderWine() bool { return false }
