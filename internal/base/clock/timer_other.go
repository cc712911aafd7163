//go:build !linux

package clock

// NewTimer returns the most precise Timer of this system.
func NewTimer(c *Clock) Timer { return NewPlainTimer(c) }
