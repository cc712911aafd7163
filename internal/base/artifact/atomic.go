package artifact

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/base/pattern"
)

// AtomicFile is written under a temporary name in the directory of its target and takes the target's
// place as a whole, or not at all.
type AtomicFile struct {
	target string
	file   *os.File
	done   bool
}

// CreateAtomic starts a file that will replace target.
func CreateAtomic(target string) (*AtomicFile, error) {
	var suffix [6]byte
	rand.Read(suffix[:])
	dir, base := filepath.Split(target)
	name := filepath.Join(dir, "."+base+"."+hex.EncodeToString(suffix[:])+".tmp")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", target, reason(err))
	}
	return &AtomicFile{target: target, file: file}, nil
}

// Write implements io.Writer.
func (a *AtomicFile) Write(p []byte) (int, error) {
	n, err := a.file.Write(p)
	if err != nil {
		err = fmt.Errorf("cannot write %s: %w", a.target, reason(err))
	}
	return n, err
}

// Commit moves the file to its place.
func (a *AtomicFile) Commit() error {
	if a.done {
		return nil
	}
	if err := a.file.Close(); err != nil {
		return a.give(err)
	}
	if err := rename(a.file.Name(), a.target); err != nil {
		return a.give(err)
	}
	a.done = true
	return nil
}

// Abort removes what was written; after Commit it does nothing, so that it can be deferred.
func (a *AtomicFile) Abort() {
	if a.done {
		return
	}
	a.done = true
	a.file.Close()
	os.Remove(a.file.Name())
}

func (a *AtomicFile) give(err error) error {
	a.Abort()
	return fmt.Errorf("cannot write %s: %w", a.target, reason(err))
}

// streamBuffer is what WriteStream holds back before it writes.
const streamBuffer = 256 << 10

// WriteStream replaces the file at path by what fill writes, as a whole or, after an error, not at all. Write errors
// stick to the writer: fill may ignore them.
func WriteStream(path string, fill func(*bufio.Writer) error) error {
	a, err := CreateAtomic(path)
	if err != nil {
		return err
	}
	defer a.Abort()
	out := bufio.NewWriterSize(a, streamBuffer)
	if err := fill(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return a.Commit()
}

// WriteFile replaces the file at path by data, as a whole or not at all.
func WriteFile(path string, data []byte) error {
	a, err := CreateAtomic(path)
	if err != nil {
		return err
	}
	defer a.Abort()
	if _, err := a.Write(data); err != nil {
		return err
	}
	return a.Commit()
}

// RemoveStale removes the outputs of an earlier run, and what a killed process left of them: the temporary files of
// [CreateAtomic]. Empty paths and missing files are fine.
func RemoveStale(paths ...string) error {
	removeTemporary(paths)
	var first error
	var of string
	more := 0
	for _, path := range paths {
		if path == "" {
			continue
		}
		switch err := os.Remove(path); {
		case err == nil, errors.Is(err, fs.ErrNotExist):
		case first == nil:
			first, of = reason(err), path
		default:
			more++
		}
	}
	if first == nil {
		return nil
	}
	if more > 0 {
		of += fmt.Sprintf(" and %d more files", more)
	}
	return fmt.Errorf("cannot remove %s left by an earlier run: %w", of, first)
}

// temporary matches the names of temporary files; the group is that of the file they were to become.
var temporary = pattern.New(`^\.(.+)\.[0-9a-f]{12}\.tmp$`)

// removeTemporary removes the temporary files of some files.
func removeTemporary(paths []string) {
	names := map[string][]string{}
	for _, path := range paths {
		if path != "" {
			names[filepath.Dir(path)] = append(names[filepath.Dir(path)], filepath.Base(path))
		}
	}
	for dir, of := range names {
		entries, _ := os.ReadDir(dir) // none where it cannot be read
		for _, e := range entries {
			if m := temporary.FindStringSubmatch(e.Name()); m != nil && slices.Contains(of, m[1]) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// reason strips the operation and the path from a file error: the message around it names the path
// that the user knows, not the temporary one.
func reason(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
