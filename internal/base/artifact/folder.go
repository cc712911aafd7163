package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxNumbered bounds the numbers behind the name of a folder.
const maxNumbered = 1000

// Numbered returns the first of dir, dir-2, dir-3 and so on that is not taken, and the last one before it; before is ""
// if dir itself is free.
func Numbered(dir string, taken func(dir string) bool) (free, before string, err error) {
	for n := 1; n <= maxNumbered; n++ {
		free = dir
		if n > 1 {
			free = fmt.Sprintf("%s-%d", dir, n)
		}
		if !taken(free) {
			return free, before, nil
		}
		before = free
	}
	return "", "", fmt.Errorf("%s and %d folders named after it contain results; move some of them away", dir,
		maxNumbered-1)
}

// Holds reports whether a folder, or one below it, contains anything worth keeping: a file that is not empty and has
// none of the given names, which are those of files that say nothing by themselves, and of folders that have only such.
// A folder that a process writes to holds something, too, as does one that cannot be read.
func Holds(dir string, trifles ...string) bool {
	if Writing(dir) {
		return true
	}
	trifles = append(slices.Clone(trifles), LockName)
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went away, or never was
		case err != nil:
			return err
		case path != dir && slices.Contains(trifles, entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return nil
		}
		return found
	})
	return err != nil
}

// Made is a folder that was made, or was there.
type Made struct {
	dir string
	// first is the topmost folder that was missing; "" if all were there.
	first string
}

// MakeFolder makes a folder with its parents.
func MakeFolder(dir string) (Made, error) {
	m := Made{dir: filepath.Clean(dir)}
	for at := m.dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			break
		}
		m.first = at
	}
	return m, os.MkdirAll(m.dir, 0o755)
}

// New reports whether the folder was not there before.
func (m Made) New() bool { return m.first != "" }

// Undo removes files in a folder that was made, and then the folders that have become empty, from those of the files up
// to the topmost one that was made. What holds anything else stays, and so does all in a folder that was there before.
func (m Made) Undo(files ...string) {
	if m.first == "" {
		return
	}
	below := func(path string) bool {
		rel, err := filepath.Rel(m.first, path)
		return err == nil && filepath.IsLocal(rel)
	}
	folders := []string{m.dir}
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && !info.IsDir() && below(file) && os.Remove(file) == nil {
			folders = append(folders, filepath.Dir(file))
		}
	}
	// The deepest first: a folder is empty once those below it are gone.
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) })
	for _, folder := range folders {
		for at := folder; below(at) && os.Remove(at) == nil; at = filepath.Dir(at) {
		}
	}
}
