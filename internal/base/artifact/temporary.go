package artifact

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// temporaryPrefix begins the names of this program's folders among the temporary files.
const temporaryPrefix = "aiperf-"

// Temporary is a folder among the temporary files, with a lock that says that its process lives. [RemoveAbandoned]
// removes those of processes that were killed.
type Temporary struct {
	// Dir is its path.
	Dir  string
	lock *Lock
}

// NewTemporary makes a folder whose name begins with aiperf- and the kind.
func NewTemporary(kind string) (*Temporary, error) {
	dir, err := os.MkdirTemp("", temporaryPrefix+kind+"-")
	if err != nil {
		return nil, err
	}
	lock, err := LockFolder(dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &Temporary{dir, lock}, nil
}

// Remove removes the folder and what is in it. It is safe to call on nil, and more than once.
func (t *Temporary) Remove() {
	if t != nil {
		t.Leave()
		os.RemoveAll(t.Dir)
	}
}

// Leave gives the folder up: it is removed if it is empty, and else stays for good, as what is in it is needed.
func (t *Temporary) Leave() {
	if t != nil {
		t.lock.Release()
		os.Remove(t.Dir)
	}
}

// HoldTemporary adds the lock of one more process to a folder that another one made; name tells their locks apart. A
// nil one is held where the file system has no locks.
func HoldTemporary(dir, name string) *Lock {
	path := filepath.Join(dir, LockName+"-"+filepath.Base(name))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	if tryLock(file) != nil {
		file.Close()
		return nil
	}
	l := &Lock{file: file, path: path}
	l.sign()
	return l
}

// RemoveAbandoned removes the temporary folders that killed processes of this user left. A folder without a lock, or
// with one that is held or not signed yet, stays.
func RemoveAbandoned() {
	top := os.TempDir()
	entries, err := os.ReadDir(top)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), temporaryPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && ownFile(info) {
			removeAbandoned(filepath.Join(top, e.Name()))
		}
	}
}

// removeAbandoned removes one folder if all of its locks are free.
func removeAbandoned(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var held []*os.File
	defer func() {
		for _, file := range held {
			file.Close()
		}
	}()
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), LockName) || e.Type()&fs.ModeType != 0 {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDWR, 0)
		if err != nil {
			return
		}
		held = append(held, file)
		info, err := file.Stat()
		if err != nil || info.Size() == 0 || tryLock(file) != nil {
			return
		}
	}
	if len(held) == 0 {
		return
	}
	// The locks go last: another process that looks here meanwhile finds them taken.
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), LockName) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	for _, file := range held {
		removeOpen(file, file.Name())
	}
	held = nil
	_ = os.Remove(dir)
}
