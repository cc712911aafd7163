package public

import (
	"context"
	"errors"
	"fmt"

	"aiperf/internal/workload/rows"
)

// ErrNoPart is the error of a subset or split that a copy of a repository lacks.
var ErrNoPart = errors.New("no file belongs to the")

// Table is a part of a repository of the hub whose rows are read as they are.
type Table struct {
	Source
	// Option is the option that asks for the table, with its value, PathOption the one that names a copy.
	Option, PathOption string
	// Download allows the hub to be asked; DownloadOption is the option that does.
	Download       bool
	DownloadOption string
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
		path, err := found.at(ctx, i)
		if err != nil {
			return err
		}
		err = rows.Each(ctx, path, func(_ int, row rows.Row) error {
			number++
			return f(number, row)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// asked returns the option that asks for the data set, with its value.
func (s *set) asked() string {
	if s.table != nil {
		return s.table.Option
	}
	return "--public-dataset " + s.name
}

func (s *set) pathOption() string {
	if s.table != nil {
		return s.table.PathOption
	}
	return "--dataset-path"
}
