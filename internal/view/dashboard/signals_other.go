//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package dashboard

import "os"

// keepInterrupts does nothing: Ctrl-C stays a key.
func keepInterrupts(*os.File) {}
