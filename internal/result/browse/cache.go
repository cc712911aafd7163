package browse

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// tidy removes the oldest files of a cache folder until at most so many bytes are left.
func tidy(dir string, most int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode().Type() != fs.FileMode(0) {
			continue
		}
		files = append(files, file{filepath.Join(dir, entry.Name()), info.Size(), info.ModTime()})
		total += info.Size()
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	for _, f := range files[:max(0, len(files)-1)] { // the newest stays
		if total <= most {
			return
		}
		if os.Remove(f.path) == nil {
			total -= f.size
		}
	}
}
