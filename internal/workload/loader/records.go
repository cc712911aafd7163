package loader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/workload/recipe"
)

// notOfObjects are the formats whose files are no lines of JSON objects.
var notOfObjects = []string{burstGPTTrace, shareGPT, textLines, textCSV, harFile, accessLog}

// isPoolName reports whether a name is one of a file on every system.
func isPoolName(name string) bool {
	for i, r := range name {
		if !(unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || i > 0 && (r == ' ' || r == '-')) {
			return false
		}
	}
	return name != "" && utf8.RuneCountInString(name) <= 100
}

// LoadRecords reads lines that stand in a configuration as a file of the format, or as a folder with a file for each
// pool. Messages name the places of the lines; place is that of all.
func LoadRecords(ctx context.Context, place string, all []recipe.Records, format string, o Options) (*Result, error) {
	if slices.Contains(notOfObjects, format) {
		return nil, fmt.Errorf("%s: a %s file has no lines of JSON objects: write it as a file, and give its path",
			place,
			format)
	}
	temporary, err := artifact.NewTemporary("records")
	if err != nil {
		return nil, fmt.Errorf("%s: the records cannot be put into a temporary file: %w", place, err)
	}
	defer temporary.Remove()
	dir := temporary.Dir
	written := writtenRecords{place: place, dir: dir, lines: map[string][]recipe.Line{}}
	path := dir
	for _, r := range all {
		name := r.Pool
		if len(all) == 1 && name == "" {
			name = "records"
		}
		if !isPoolName(name) {
			return nil, fmt.Errorf("%s: the pool %q: a name has letters, digits, blanks, _ and -", place, shorten(name))
		}
		file, err := written.add(name, r.Lines)
		if err != nil {
			return nil, err
		}
		if r.Pool == "" {
			path = file
		}
	}
	o.IndexFrom = math.MaxInt64 // the file is gone when it would be read again
	result, err := LoadWith(ctx, path, format, o)
	if err != nil {
		return nil, written.translate(err)
	}
	for _, texts := range [][]string{result.Warnings, result.Notes} {
		for i := range texts {
			texts[i] = written.text(texts[i])
		}
	}
	return result, nil
}

// writtenRecords are records in temporary files.
type writtenRecords struct {
	place, dir string
	lines      map[string][]recipe.Line // of each file
}

func (w *writtenRecords) add(name string, lines []recipe.Line) (string, error) {
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.Text)
		text.WriteByte('\n')
	}
	path := filepath.Join(w.dir, name+".jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return "", fmt.Errorf("%s: the records cannot be put into a temporary file: %w", w.place, err)
	}
	w.lines[path] = lines
	return path, nil
}

// translate names the places of records in an error about their files.
func (w *writtenRecords) translate(err error) error {
	if text := w.text(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// text replaces the lines of files by the places of the records, and the files by the place of all.
func (w *writtenRecords) text(s string) string {
	for path, lines := range w.lines {
		s = regexp.MustCompile(regexp.QuoteMeta(path)+`:(\d+)`).ReplaceAllStringFunc(s, func(found string) string {
			n, err := strconv.Atoi(found[len(path)+1:])
			if err != nil || n < 1 || n > len(lines) {
				return found
			}
			return lines[n-1].Place
		})
		s = strings.ReplaceAll(s, path, w.place)
	}
	return strings.ReplaceAll(s, w.dir, w.place)
}
