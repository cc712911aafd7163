package loader

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/rows"
)

// dataNames are the ends of names of files that hold records, which may be compressed.
var dataNames = []string{".jsonl", ".json"}

func isData(name string, ends ...string) bool {
	plain := rows.UnpackedName(name)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(plain, end) })
}

// baseName returns the name of a file without folder and extension.
func baseName(path string) string {
	name := filepath.Base(path)
	name = name[:len(rows.UnpackedName(name))]
	for _, end := range dataNames {
		if rest, ok := strings.CutSuffix(name, end); ok && rest != "" {
			name = rest
		}
	}
	return name
}

// filesAt returns the file at path, or the files in the folder at path by name: those of the given ends,
// and what else there is.
func filesAt(path string, ends ...string) (files, others []string, err error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, nil, err
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(path, e.Name())) // a link counts as what it leads to
		switch {
		case err == nil && info.Mode().IsRegular() && isData(e.Name(), ends...) && !strings.HasPrefix(e.Name(), "."):
			files = append(files, filepath.Join(path, e.Name()))
		default:
			others = append(others, e.Name())
		}
	}
	return files, others, nil
}

// filesBelow returns the file at path, or the files of the given ends anywhere below the folder at path, in
// the order of their paths.
func filesBelow(path string, ends ...string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && isData(name, ends...) {
			files = append(files, name)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}

// eachLine calls f with every line of the file.
func (l *load) eachLine(f func(line []byte)) error {
	return Each(l.ctx, l.path, l.options.maxLine(), func(number int, line []byte) error {
		l.line = number
		f(line)
		return nil
	})
}

// eachFile calls f with every line of some files; mistakes and warnings name the file that is being read.
func (l *load) eachFile(files []string, f func(line []byte)) error {
	whole := l.path
	defer func() { l.path = whole }()
	for _, l.path = range files {
		if err := l.eachLine(f); err != nil {
			return err
		}
	}
	return nil
}

// noteSkipped reports which files of a folder were not read.
func (l *load) noteSkipped(others []string) {
	const listed = 5
	if len(others) == 0 {
		return
	}
	names := strings.Join(others[:min(listed, len(others))], ", ")
	if more := len(others) - listed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	l.notef("not read from %s, because they are not data files: %s", l.path, names)
}

// detectFolder returns the format by the first records of the files of a folder.
func detectFolder(path string, limit Limit) (string, error) {
	if parts, err := recording.Parts(path); err != nil || len(parts) > 0 {
		if err != nil {
			return "", err
		}
		if _, ok := recording.Look(path); ok {
			return recordingFormat, nil
		}
	}
	files, _, err := filesAt(path, dataNames...)
	if err == nil && len(files) == 0 {
		files, err = filesBelow(path, ".jsonl")
	}
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("%s holds no .jsonl and no .json file", path)
	}
	found := ""
	for _, file := range files {
		name, err := detect(file, limit)
		if err != nil {
			return "", err
		}
		if name == singleTurn { // a folder of them is a pool
			name = randomPool
		}
		if found != "" && name != found {
			return "", fmt.Errorf("%s: %s is a %s file, the files before it are of the format %s: pass "+
				"--custom-dataset-type", path, filepath.Base(file), name, found)
		}
		found = name
	}
	return found, nil
}
