// Package public reads published data sets: a table says where each of them is found and how a row becomes turns.
//
// Rows are taken from the place that the user names, from the cache of downloads, from the hub's own cache, or from the
// network, in this order. Rows that cannot be sent are left out and counted in a note. The package knows nothing of
// endpoints, and of tokenizers only a function that counts.
package public

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/rows"
)

// Options say which data set is read and from where.
type Options struct {
	Name string
	// Subset replaces the data set's own; WekaRepo is the repository of weka_hf, and of the other weka sets if given.
	Subset, WekaRepo string
	// Filters keep the rows whose columns have these values.
	Filters []recipe.Filter
	// Path is the user's file or folder; empty: none. CacheDir is where downloads of plain URLs go.
	Path, CacheDir string
	Hub            *hub.Client
	// Timeout bounds the downloads.
	Timeout time.Duration
	// Limit is the number of conversations after which a streamed data set ends; of recorded agents, of sessions.
	Limit int
	// Scheduled requests go out at their recorded times, each as a conversation of its own.
	Scheduled bool
	// OwnLimits: the user says how long answers are; recorded lengths are not taken.
	OwnLimits bool
	// Count counts tokens; nil where there is no tokenizer.
	Count func(string) int
}

// Result is a data set that was read.
type Result struct {
	Dataset         *dataset.Dataset
	Notes, Warnings []string
}

// Names lists the data sets.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.name)
	}
	return names
}

// Set describes a data set for lists: the repository of the hub with its subset and split, or the URL of a file. All
// are empty where the user names the repository.
type Set struct {
	Name, URL string
	Source
}

// Sets lists the data sets.
func Sets() []Set {
	var list []Set
	for _, s := range sets() {
		list = append(list, Set{s.name, s.url, Source{s.repo, s.subset, s.split}})
	}
	return list
}

// IsWeka reports whether the data set consists of weka traces, which have a reader of their own.
func IsWeka(name string) bool {
	s, ok := lookup(name)
	return ok && s.weka
}

func lookup(name string) (set, bool) {
	for _, s := range sets() {
		if s.name == name {
			return s, true
		}
	}
	return set{}, false
}

// Source is where a data set lies on the hub. A plain file has none.
type Source struct{ Repo, Subset, Split string }

// Source returns the place of the data set that the options choose.
func (o *Options) Source() Source {
	s, err := o.choose()
	if err != nil {
		return Source{}
	}
	return Source{s.repo, s.subset, s.split}
}

// choose returns the row of the table with the user's changes.
func (o *Options) choose() (set, error) {
	s, ok := lookup(o.Name)
	if !ok {
		return s, fmt.Errorf("there is no public data set %q; there are %s", o.Name, strings.Join(Names(), ", "))
	}
	if o.Subset != "" {
		if s.url != "" {
			return s, fmt.Errorf("--hf-subset has no meaning for %s, which is a single file", s.name)
		}
		s.subset = o.Subset
	}
	if o.WekaRepo != "" {
		if !s.weka {
			return s, fmt.Errorf("--hf-weka-dataset belongs to weka data sets, and %s is not one", s.name)
		}
		s.repo = o.WekaRepo
	}
	if len(o.Filters) > 0 && (s.weka || s.name == shareGPT) {
		return s, fmt.Errorf("--dataset-filter has no meaning for %s, whose rows have no columns to choose by", s.name)
	}
	if o.Scheduled && s.agents == nil {
		return s, fmt.Errorf("--fixed-schedule cannot be used with the data set %s, whose rows have no times", s.name)
	}
	if s.weka && s.repo == "" {
		return s, fmt.Errorf("--public-dataset %s needs --hf-weka-dataset OWNER/NAME", s.name)
	}
	if s.name == shareGPT && o.Count == nil {
		return s, fmt.Errorf("--public-dataset %s chooses rows by their number of tokens, and this endpoint type "+
			"uses no tokenizer", s.name)
	}
	return s, nil
}

// Load reads a data set.
func Load(ctx context.Context, o Options) (*Result, error) {
	s, err := o.choose()
	if err != nil {
		return nil, err
	}
	if s.weka {
		return nil, fmt.Errorf("%s is read as a weka trace", s.name)
	}
	r := &reading{options: &o, set: s}
	if s.agents != nil {
		if r.agents, err = s.agents.chosen(&o); err != nil {
			return nil, fmt.Errorf("--public-dataset %s: %w", s.name, err)
		}
	}
	found, err := o.locate(ctx, s)
	if err != nil {
		return nil, err
	}
	var read []string
	for i := range found.paths {
		if r.file, err = found.at(ctx, i); err != nil {
			return nil, o.unreachable(s, err)
		}
		read = append(read, r.file)
		if err := rows.Each(ctx, r.file, r.row); err != nil {
			return nil, fmt.Errorf("--public-dataset %s: %w", s.name, err)
		}
		if r.full() {
			break
		}
	}
	return r.result(read)
}

// WekaPath returns the file or folder with the traces of a weka data set.
func WekaPath(ctx context.Context, o Options) (string, error) {
	s, err := o.choose()
	if err != nil {
		return "", err
	}
	found, err := o.locate(ctx, s)
	if err != nil {
		return "", err
	}
	files := found.paths
	if slices.ContainsFunc(files, func(f string) bool { return rows.Kind(f) == "parquet" || rows.Kind(f) == "arrow" }) {
		return o.convertWeka(ctx, s, files)
	}
	if len(files) == 1 {
		return files[0], nil
	}
	return filepath.Dir(files[0]), nil
}

// reading is a data set in the making.
type reading struct {
	options *Options
	set     set
	file    string
	made    []dataset.Conversation
	// What became of the rows that are not in made.
	empty, filtered, outOfLimits int
	// agents reads sessions of agents; nil: rows are requests.
	agents *agentReader
}

func (r *reading) full() bool {
	made := len(r.made)
	if r.agents != nil {
		made = len(r.agents.sessions)
	}
	return r.set.streamed && r.options.Limit > 0 && made >= r.options.Limit
}

// row makes a conversation of a row, unless it is filtered out, outside of the limits or empty; each is counted for the
// report. Numbers of rows in errors are those of the file.
func (r *reading) row(number int, row rows.Row) error {
	if r.full() {
		return rows.ErrEnough
	}
	if r.agents != nil {
		return r.session(number, row)
	}
	for _, f := range r.options.Filters {
		value, ok := row[f.Column]
		if !ok {
			return fmt.Errorf("%s: --dataset-filter names the column %q, and there are %s", r.file, f.Column,
				columns(row))
		}
		if fmt.Sprint(value) != f.Value {
			r.filtered++
			return nil
		}
	}
	turns, err := r.set.convert(&converter{row: row, reading: r})
	switch {
	case errors.Is(err, errOutOfLimits):
		r.outOfLimits++
	case err != nil:
		return fmt.Errorf("%s: row %d: %w", r.file, number, err)
	case len(turns) == 0:
		r.empty++
	default:
		r.made = append(r.made, dataset.Conversation{Turns: turns})
	}
	return nil
}

// result returns the data set with notes on what was left out. No conversation at all is an error with the reasons.
func (r *reading) result(files []string) (*Result, error) {
	s := r.set
	if r.agents != nil {
		return r.agentResult(files)
	}
	if len(r.made) == 0 {
		return nil, fmt.Errorf("--public-dataset %s: no request can be made of %s: %d rows are empty, %d are left "+
			"out by filters, %d do not fit",
			s.name, strings.Join(files, ", "), r.empty, r.filtered, r.outOfLimits)
	}
	out := &Result{Dataset: &dataset.Dataset{
		Conversations: dataset.Memory(r.made), Sampling: dataset.Sequential,
		DefaultContextMode: dataset.DeltasWithoutResponses,
	}}
	out.Notes = append(out.Notes, fmt.Sprintf("%s: %d conversations from %s", s.name, len(r.made),
		strings.Join(files, ", ")))
	for _, x := range []struct {
		n    int
		what string
	}{{r.empty, "are empty"}, {r.filtered, "are left out by filters"},
		{r.outOfLimits, "have lengths outside of the data set's limits"}} {
		if x.n > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %d rows %s", s.name, x.n, x.what))
		}
	}
	if s.name == shareGPT && r.options.OwnLimits {
		out.Notes = append(out.Notes, "sharegpt: the limits of answers follow --osl, not the recorded answers")
	}
	return out, nil
}

func columns(row rows.Row) string {
	var names []string
	for name := range row {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
