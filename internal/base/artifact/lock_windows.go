package artifact

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error of a lock that somebody holds.
var errLocked error = windows.ERROR_LOCK_VIOLATION

// lockedByte is far behind the text: what is locked can be read by nobody else.
const lockedByte = 1 << 30

func tryLock(file *os.File) error { return lockFile(file, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShared fails while somebody has the lock.
func tryShared(file *os.File) error { return lockFile(file, 0) }

func lockFile(file *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: lockedByte})
}

// removeOpen closes the file first: what is open cannot be removed, so that neither can the file of the next holder.
func removeOpen(file *os.File, path string) {
	file.Close()
	os.Remove(path)
}
