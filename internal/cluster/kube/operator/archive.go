package operator

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Names of files that the archive itself writes.
const (
	SpecFile   = "job_spec.json"
	LatestFile = "latest.txt"
	IndexFile  = "index.json"
	// sweepsDir holds the sweeps of a namespace; no job can have this name in it, since its runs are epochs.
	sweepsDir = "sweeps"
	suffix    = ".zst"
)

// ArchiveOptions configures an archive.
type ArchiveOptions struct {
	// Compress stores files with zstd.
	Compress bool
	// RetainRuns is how many of the newest runs of a job stay, whatever their age; RetainDays the age in days that a
	// further run must have to be removed, 0 for any.
	RetainRuns int
	RetainDays float64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Store is the volume.
type Store struct {
	root *os.Root
	o    ArchiveOptions

	mu    sync.Mutex
	index map[ArchivedRun]Entry
}

// ArchivedRun names an execution of a job or a sweep.
type ArchivedRun struct {
	Namespace, Name, Epoch string
	Sweep                  bool
}

// File is a stored file.
type File struct {
	Name string `json:"name"`
	// Size is that of the file on the volume, in bytes.
	Size int64 `json:"size"`
}

// OpenArchive opens the volume in an existing directory.
func OpenArchive(dir string, o ArchiveOptions) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the results directory: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{root: root, o: o, index: map[ArchivedRun]Entry{}}
	if err := s.loadIndex(); err != nil {
		if err := s.Rebuild(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close closes the volume.
func (s *Store) Close() error { return s.root.Close() }

// Owner is the directory of a job or a sweep.
func (r ArchivedRun) owner() string {
	if r.Sweep {
		return path.Join(r.Namespace, sweepsDir, r.Name)
	}
	return path.Join(r.Namespace, r.Name)
}

// Dir is the directory of a run, relative to the volume.
func (r ArchivedRun) Dir() string { return path.Join(r.owner(), r.Epoch) }

// check refuses names that are not single path elements.
func (r ArchivedRun) check() error {
	for _, name := range []string{r.Namespace, r.Name, r.Epoch} {
		if name == "" || name == "." || strings.ContainsAny(name, `/\`) || name == ".." {
			return fmt.Errorf("%w: %q is not a name", fs.ErrNotExist, name)
		}
	}
	if !ValidEpoch(r.Epoch) {
		return fmt.Errorf("%w: %q is not an epoch", fs.ErrNotExist, r.Epoch)
	}
	return nil
}

// ValidEpoch reports whether a text is the epoch of a run: seconds, with or without six digits of microseconds.
func ValidEpoch(text string) bool {
	_, err := epochTime(text)
	return err == nil
}

func epochTime(text string) (time.Time, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0 || text[0] == '+':
		return time.Time{}, fmt.Errorf("%q is not an epoch", text)
	case len(text) == 9 || len(text) == 10:
		return time.Unix(n, 0), nil
	case len(text) == 15 || len(text) == 16:
		return time.UnixMicro(n), nil
	}
	return time.Time{}, fmt.Errorf("%q is not an epoch", text)
}

// Begin makes the directory of a run and stores its specification.
func (s *Store) Begin(r ArchivedRun, spec []byte) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := s.root.MkdirAll(r.Dir(), 0o755); err != nil {
		return err
	}
	return s.replace(path.Join(r.Dir(), SpecFile), spec)
}

// replace writes a file as a whole.
func (s *Store) replace(name string, data []byte) error {
	return s.write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// write writes a file beside its place and renames it.
func (s *Store) write(name string, fill func(io.Writer) error) error {
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)+".part")
	file, err := s.root.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(fill(file), file.Close())
	if err == nil {
		err = s.root.Rename(part, name)
	}
	if err != nil {
		_ = s.root.Remove(part)
	}
	return err
}

// Put stores a file of a run, compressed where the archive compresses.
func (s *Store) Put(r ArchivedRun, name string, content io.Reader) error {
	if err := r.check(); err != nil {
		return err
	}
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q is not a name of a file", name)
	}
	target := path.Join(r.Dir(), name)
	if !s.o.Compress || strings.HasSuffix(name, suffix) {
		_ = s.root.Remove(target + suffix)
		return s.write(target, func(w io.Writer) error {
			_, err := io.Copy(w, content)
			return err
		})
	}
	_ = s.root.Remove(target)
	return s.write(target+suffix, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		_, err = io.Copy(z, content)
		return errors.Join(err, z.Close())
	})
}

// Finish makes a run the newest complete one of its job, and removes runs that need not stay.
func (s *Store) Finish(r ArchivedRun) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := s.replace(path.Join(r.owner(), LatestFile), []byte(r.Epoch+"\n")); err != nil {
		return err
	}
	_, err := s.Retain(r)
	return err
}

// Latest returns the newest complete run of a job or a sweep.
func (s *Store) Latest(namespace, name string, sweep bool) (ArchivedRun, error) {
	r := ArchivedRun{Namespace: namespace, Name: name, Epoch: "0000000000", Sweep: sweep}
	if err := r.check(); err != nil {
		return ArchivedRun{}, err
	}
	text, err := s.root.ReadFile(path.Join(r.owner(), LatestFile))
	if err != nil {
		return ArchivedRun{}, err
	}
	r.Epoch = strings.TrimSpace(string(text))
	return r, r.check()
}

// Stored is an open file of a run.
type Stored struct {
	*os.File
	// Zstd reports that the content is compressed.
	Zstd bool
	Size int64
	Time time.Time
}

// OpenFile opens a file of a run, its compressed form first.
func (s *Store) OpenFile(r ArchivedRun, name string) (*Stored, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	for _, compressed := range []bool{true, false} {
		target := path.Join(r.Dir(), name)
		if compressed {
			target += suffix
		}
		file, err := s.root.Open(target)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			_ = file.Close()
			continue
		}
		return &Stored{File: file, Zstd: compressed, Size: info.Size(), Time: info.ModTime()}, nil
	}
	return nil, fs.ErrNotExist
}

// ReadFile returns the content of a file of a run, at most limit bytes of it.
func (s *Store) ReadFile(r ArchivedRun, name string, limit int64) ([]byte, error) {
	file, err := s.OpenFile(r, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := file.Content()
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	data, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// Content returns the content as it was before it was stored.
func (f *Stored) Content() (io.ReadCloser, error) {
	if !f.Zstd {
		return io.NopCloser(f.File), nil
	}
	z, err := zstd.NewReader(f.File, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// Files lists the files of a run by their names.
func (s *Store) Files(r ArchivedRun) ([]File, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var files []File
	err := fs.WalkDir(s.root.FS(), r.Dir(), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.Type().IsRegular() || strings.HasPrefix(path.Base(name), ".") {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(name, r.Dir()+"/")
		files = append(files, File{Name: strings.TrimSuffix(relative, suffix), Size: info.Size()})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}

// Runs lists the runs of a job or a sweep, the newest first.
func (s *Store) Runs(namespace, name string, sweep bool) ([]ArchivedRun, error) {
	r := ArchivedRun{Namespace: namespace, Name: name, Epoch: "0000000000", Sweep: sweep}
	if err := r.check(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.root.FS(), r.owner())
	if err != nil {
		return nil, err
	}
	var runs []ArchivedRun
	for _, e := range entries {
		if r.Epoch = e.Name(); e.IsDir() && ValidEpoch(r.Epoch) {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b ArchivedRun) int { return b.Time().Compare(a.Time()) })
	return runs, nil
}

// Time is the start of a run as its epoch has it.
func (r ArchivedRun) Time() time.Time {
	t, _ := epochTime(r.Epoch) // names were checked
	return t
}

// All lists all runs of the volume.
func (s *Store) All() ([]ArchivedRun, error) {
	var all []ArchivedRun
	namespaces, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	add := func(namespace, dir string, sweep bool) {
		entries, _ := fs.ReadDir(s.root.FS(), dir) // what was removed meanwhile has no runs
		for _, e := range entries {
			if !e.IsDir() || !sweep && e.Name() == sweepsDir {
				continue
			}
			runs, _ := s.Runs(namespace, e.Name(), sweep)
			all = append(all, runs...)
		}
	}
	for _, e := range namespaces {
		if e.IsDir() {
			add(e.Name(), e.Name(), false)
			add(e.Name(), path.Join(e.Name(), sweepsDir), true)
		}
	}
	return all, nil
}

// Remove removes a run.
func (s *Store) Remove(r ArchivedRun) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := s.root.RemoveAll(r.Dir()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.index, r)
	return s.saveIndex()
}
