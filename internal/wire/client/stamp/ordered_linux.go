//go:build !race

package stamp

// ordered is for the race detector.
func ordered(uintptr) {}
