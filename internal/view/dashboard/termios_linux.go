package dashboard

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
	// vDisable is the character that switches a key of the terminal off.
	vDisable = 0
)
