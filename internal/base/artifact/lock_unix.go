//go:build unix

package artifact

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked is the error of a lock that somebody holds.
var errLocked error = unix.EWOULDBLOCK

func tryLock(file *os.File) error { return flock(file, unix.LOCK_EX) }

// tryShared fails while somebody has the lock.
func tryShared(file *os.File) error { return flock(file, unix.LOCK_SH) }

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// removeOpen removes the file while it is locked, so that nobody who locks it now takes it for the one of the folder.
func removeOpen(file *os.File, path string) {
	os.Remove(path)
	file.Close()
}
