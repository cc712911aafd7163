package upload

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Find lists the regular files below dir that match a pattern, each once, as paths with slashes: in the order of the
// patterns, then by name.
func Find(dir string, patterns []string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() {
			relative, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			all = append(all, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	var found []string
	taken := map[string]bool{}
	for _, pattern := range patterns {
		for _, name := range all {
			if !taken[name] && Matches(pattern, name) {
				taken[name] = true
				found = append(found, name)
			}
		}
	}
	return found, nil
}

// Matches reports whether a path with slashes matches a pattern: element by element as [path.Match] has it; ** stands
// for any number of folders.
func Matches(pattern, name string) bool {
	return matches(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matches is [Matches] of the elements.
func matches(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if matches(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

// Size returns the current size of a file.
func Size(dir, name string) (int64, error) {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Open opens a file for an upload of size bytes: it may have grown since.
func Open(dir, name string, size int64) (io.ReadCloser, error) { return OpenPart(dir, name, 0, size) }

// OpenPart opens size bytes of a file, from an offset on.
func OpenPart(dir, name string, offset, size int64) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(file, offset, size), file}, nil
}

type section struct {
	io.Reader
	io.Closer
}

// Patterns returns the patterns of the files that are uploaded by default: results in the run's folder, in the folder
// of the results' prefix if it has one, and in those of the phases; pictures and pages anywhere.
func Patterns(prefixFolder string) []string {
	results := []string{"*.json", "*.csv", "*.jsonl", "*.parquet"}
	list := slices.Clone(results)
	if prefixFolder != "" && prefixFolder != "." {
		for _, pattern := range results {
			list = append(list, prefixFolder+"/"+pattern)
		}
	}
	return append(list, "phases/*/*.json", "phases/*/*.csv", "**/*.png", "**/*.jpg", "**/*.jpeg", "**/*.svg",
		"**/*.html")
}

// MediaType returns the media type of a file by its name.
func MediaType(name string) string {
	for _, t := range mediaTypes {
		if strings.EqualFold(path.Ext(name), t.ext) {
			return t.media
		}
	}
	return "application/octet-stream"
}

// mediaTypes replace the tables of the machine, which differ.
var mediaTypes = [...]struct{ ext, media string }{
	{".json", "application/json"}, {".jsonl", "application/x-ndjson"}, {".csv", "text/csv"}, {".txt", "text/plain"},
	{".log", "text/plain"},
	{".parquet", "application/vnd.apache.parquet"}, {".html", "text/html"}, {".png", "image/png"},
	{".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".svg", "image/svg+xml"},
	{".gif", "image/gif"}, {".webp", "image/webp"}, {".yaml", "application/yaml"}, {".yml", "application/yaml"},
}

// IsPicture reports whether a file is a picture or an HTML page.
func IsPicture(name string) bool {
	t := MediaType(name)
	return strings.HasPrefix(t, "image/") || t == "text/html"
}
