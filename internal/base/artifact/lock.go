package artifact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LockName is the file in a folder by which a program says that it writes there.
const LockName = ".aiperf.lock"

// Lock keeps other programs out of a folder. The system releases it when the process ends, however it ends. A nil one
// keeps nobody out.
type Lock struct {
	file *os.File
	path string
}

// InUseError is a folder that another process writes to.
type InUseError struct {
	// Dir is the folder, Holder what its process said of itself; "" if it has said nothing yet.
	Dir, Holder string
}

func (e *InUseError) Error() string {
	holder := "another process"
	if e.Holder != "" {
		holder = e.Holder
	}
	return fmt.Sprintf("the folder %s is in use: %s writes to it; wait for its end or choose another folder", e.Dir,
		holder)
}

// maxHolder bounds what is read of a lock file, in bytes; lockAttempts how often the file may vanish while it is
// locked.
const (
	maxHolder    = 200
	lockAttempts = 100
)

// LockFolder acquires the lock of an existing folder. It fails with an [InUseError] while another process, or another
// part of this one, holds it. Where the file system has no locks it returns nil: there is no lock.
func LockFolder(dir string) (*Lock, error) {
	path := filepath.Join(dir, LockName)
	for range lockAttempts {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
		switch err := tryLock(file); {
		case errors.Is(err, errLocked):
			holder, _ := io.ReadAll(io.LimitReader(file, maxHolder)) // "" says enough
			file.Close()
			return nil, &InUseError{Dir: dir, Holder: strings.TrimSpace(string(holder))}
		case err != nil:
			removeOpen(file, path)
			return nil, nil
		}
		if !stillAt(file, path) { // its holder removed it in between
			file.Close()
			continue
		}
		l := &Lock{file: file, path: path}
		l.sign()
		return l, nil
	}
	return nil, fmt.Errorf("cannot lock %s: it is removed and made again all the time", path)
}

// Writing reports whether a process writes to a folder now: it has the lock. A lock file that nobody holds is what a
// killed process left. Nothing is written; the lock is asked for shared, and released at once.
func Writing(dir string) bool {
	file, err := os.Open(filepath.Join(dir, LockName))
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(tryShared(file), errLocked)
}

// stillAt reports whether the file at path is still the open one.
func stillAt(file *os.File, path string) bool {
	own, err := file.Stat()
	if err != nil {
		return false
	}
	at, err := os.Stat(path)
	return err == nil && os.SameFile(own, at)
}

// sign writes into the file who holds it. On a full disk the text is missing, not the lock.
func (l *Lock) sign() {
	if l.file.Truncate(0) == nil {
		fmt.Fprintf(l.file, "the process %d, started at %s,\n", os.Getpid(), time.Now().Format("2006-01-02 15:04:05"))
	}
}

// Release removes the lock and its file.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	removeOpen(l.file, l.path)
	l.file = nil
}
