//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package dashboard

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	// vDisable is the character that switches a key of the terminal off.
	vDisable = 0xff
)
