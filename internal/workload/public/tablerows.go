package public

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/workload/rows"
)

// ErrNoPart is the error of a subset or split that a copy of a repository lacks.
var ErrNoPart = errors.New("no file belongs to the")

// Table is a part of a repository of the hub whose rows are read as they are.
type Table struct {
	Source
	// PathOption is the option that names a copy.
	PathOption string
	// Download allows the hub to be asked; DownloadOption is the option that does.
	Download       bool
	DownloadOption string
	// Files are the names of the part in a repository that keeps its parts in files of certain names; nil: in others.
	Files []string
	// Named: files that name no split are not read.
	Named bool
}

// Each calls f with every row and its number, from 1 on. Of the options it knows the path of a copy, the hub and the
// time-out. ErrNoPart reports that a copy lacks the subset or split.
func Each(ctx context.Context, o Options, t Table, f func(number int, row rows.Row) error) error {
	s := set{repo: t.Repo, subset: t.Subset, split: t.Split, table: &t}
	found, err := o.locate(ctx, s)
	if err != nil {
		return err
	}
	number := 0
	for i := range found.paths {
		file, err := found.at(ctx, i)
		if err != nil {
			return err
		}
		err = rows.Each(ctx, file, func(_ int, row rows.Row) error {
			number++
			return f(number, row)
		})
		if err != nil && !strings.HasPrefix(err.Error(), file) { // which errors of reading name themselves
			err = fmt.Errorf("%s: %w", file, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filesIn returns the files of the part, if all of them are among the names; nil if not.
func (t *Table) filesIn(names []string) []string {
	for _, f := range t.Files {
		if !slices.Contains(names, f) {
			return nil
		}
	}
	return t.Files
}

// absent returns the error of files that are not in the cache of the hub and, if there is a cause, cannot be fetched.
func (t *Table) absent(files, cache string, cause error) error {
	if t.Files != nil {
		files += " (" + strings.Join(t.Files, ", ") + ")"
	}
	files += " of " + t.Repo
	switch {
	case !t.Download && cause != nil:
		return fmt.Errorf("the hub's cache lacks %s: %w; %s fetches them, and %s names a copy", files, cause,
			t.DownloadOption, t.PathOption)
	case !t.Download:
		return fmt.Errorf("%s are not in the hub's cache %s: %s fetches them, and %s names a copy", files, cache,
			t.DownloadOption, t.PathOption)
	}
	return fmt.Errorf("%s are not in the hub's cache %s, and cannot be fetched: %w; %s names a copy", files, cache, cause,
		t.PathOption)
}

func (s *set) pathOption() string {
	if s.table != nil {
		return s.table.PathOption
	}
	return "--dataset-path"
}
