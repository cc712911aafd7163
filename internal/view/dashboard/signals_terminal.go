//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dashboard

import (
	"os"

	"golang.org/x/sys/unix"
)

// keepInterrupts has Ctrl-C be a signal although the terminal is raw, so that none is lost while the screen comes or goes.
// Ctrl-Z and Ctrl-\ stay keys.
func keepInterrupts(in *os.File) {
	fd := int(in.Fd())
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return // it is not a terminal
	}
	state.Lflag |= unix.ISIG | unix.NOFLSH
	state.Cc[unix.VSUSP], state.Cc[unix.VQUIT] = vDisable, vDisable
	_ = unix.IoctlSetTermios(fd, setTermios, state)
}
