//go:build !windows

package wine

// Here reports whether this program runs under Wine.
func Here() bool { return false }
