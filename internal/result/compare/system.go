package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// System is what is compared: one run, or repeats of it.
type System struct {
	Name string
	Runs []Run
	// aggregate has the figures by tag and statistic where only the aggregate file of repeats is given: it replaces
	// Runs. repeats is the number of its runs, file its path.
	aggregate map[string]aggregated
	repeats   int
	file      string
}

// Run is one finished run.
type Run struct {
	// Summary is the path of its JSON summary.
	Summary string
	Figures summary.Figures
	// requests are its values per request by tag; read when they are needed.
	requests *requestValues
	// asked counts conversations by what they ask, once that is known.
	asked map[string]int
}

// Load reads what a path names: a summary file, the folder of a run, a folder whose sub-folders
// (or those of its folder profile_runs) are repeats, or their aggregate file.
func Load(path string) (System, error) {
	s := System{Name: path}
	if s.readAggregate(path) {
		return s, nil
	}
	file, err := summary.FindSummary(path)
	var none *summary.NoSummaryError
	var several *summary.SeveralRunsError
	if err == nil {
		if err = s.add(file); err == nil {
			return s, nil
		}
	}
	switch {
	case errors.As(err, &several):
		_, err := s.foreignRepeats(path)
		return s, err
	case !errors.As(err, &none):
		return s, err
	}
	if found, err := s.foreignRepeats(path); found || err != nil {
		return s, err
	}
	for _, dir := range []string{filepath.Join(path, "profile_runs"), path} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			file, err := summary.FindSummary(filepath.Join(dir, entry.Name()))
			if errors.As(err, &none) {
				continue
			}
			if err != nil {
				return s, err
			}
			if err := s.add(file); err != nil {
				return s, err
			}
		}
		if len(s.Runs) > 0 {
			return s, nil
		}
	}
	return s, fmt.Errorf("%s contains neither the summary of a run nor folders of repeats", path)
}

func (s *System) add(file string) error {
	figures, err := summary.ReadFigures(file)
	if err != nil {
		return err
	}
	s.Runs = append(s.Runs, Run{Summary: file, Figures: figures})
	return nil
}

// values are those of a figure, one for each run that has it.
func (s *System) values(tag, stat string) []float64 {
	var out []float64
	for i := range s.Runs {
		if b, ok := s.Runs[i].Figures.Find(tag); ok {
			if v, ok := b.Stats[stat]; ok {
				out = append(out, v)
			}
		}
	}
	return out
}

// Records returns the path of the per-request file of a system of one run; "" if it has several, or no such file.
func (s *System) Records() string {
	if len(s.Runs) != 1 || s.aggregate != nil {
		return ""
	}
	path := s.Runs[0].records()
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// records returns the path of the per-request file next to the summary.
func (r *Run) records() string {
	dir, name := filepath.Split(r.Summary)
	name = strings.TrimSuffix(name, ".json")
	if rest, ok := strings.CutSuffix(name, "profile_export_aiperf"); ok {
		name = rest + "profile_export"
	}
	return filepath.Join(dir, name+".jsonl")
}

// readRequests reads the per-request file next to the summary. A run without one has no requests.
func (r *Run) readRequests() (*requestValues, error) {
	if r.requests != nil {
		return r.requests, nil
	}
	values, err := readValues(r.records())
	if errors.Is(err, fs.ErrNotExist) {
		values, err = &requestValues{}, nil
	}
	r.requests = values
	return values, err
}

// notes returns reasons why the figures of two systems may not be comparable.
func notes(base, next *System, configuration []Difference) []string {
	var out []string
	for _, s := range []*System{base, next} {
		for i := range s.Runs {
			f := &s.Runs[i].Figures
			if f.Incomplete != "" {
				out = append(out, fmt.Sprintf("%s is not complete: %s. %s", s.Runs[i].Summary, f.Incomplete,
					judge.PartOnly))
			}
			if f.WasCancelled {
				out = append(out, fmt.Sprintf("%s was cancelled early", s.Runs[i].Summary))
			}
			if why, found := unsaid(&f.Judgement); found {
				out = append(out, fmt.Sprintf("%s: %s: %s", s.Runs[i].Summary, judge.Words(why.Title), why.Text))
			}
		}
	}
	if note := originNote(base, next); note != "" {
		out = append(out, note)
	}
	for _, kind := range []string{"configuration", "dataset", "tokenizer"} {
		if kind == "configuration" && len(configuration) > 0 {
			out = append(out, configurationNote(base, next, configuration))
			continue
		}
		if a, b := kinds(base, kind), kinds(next, kind); len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			out = append(out, differInNote(base, next, kind, configuration))
		}
	}
	if note := cacheNote(base, next); note != "" {
		out = append(out, note)
	}
	return out
}

// unsaid returns what is to be known of the client where the state of its run says something worse.
func unsaid(j *judge.Judgement) (judge.Finding, bool) {
	for _, of := range []struct{ code, state string }{
		{judge.CodeClient, judge.StateClient}, {judge.CodeDoubtful, judge.StateDoubtful},
	} {
		if f, found := j.Find(of.code); found && j.State.Code != of.state {
			return f, true
		}
	}
	return judge.Finding{}, false
}

// cacheMargin is the difference in the part of the prompts that came from a prefix cache from which on two systems did
// other work.
const cacheMargin = 0.1

// cacheNote says that different parts of the prompts came from the servers' prefix caches; "" where they do not.
func cacheNote(base, next *System) string {
	a, okA := cachedShare(base)
	b, okB := cachedShare(next)
	if !okA || !okB || math.Abs(a-b) < cacheMargin {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the prompt tokens of %s and %.0f %% of those of %s came from the server's prefix cache: "+
		"times to the first token and throughputs are not those of the same work; give --reset-kv-cache to both", 100*a,
		base.Name, 100*b, next.Name)
}

// cachedShare returns the part of the prompt tokens that came from a cache, from 0 to 1: the mean of the runs, by the
// server's counters, or by its replies where these are not known. ok is false unless all runs have it.
func cachedShare(s *System) (share float64, ok bool) {
	for i := range s.Runs {
		f := &s.Runs[i].Figures
		one, known := 0.0, f.Cached != nil
		if known {
			one = f.Cached.Share
		} else if b, found := f.Find("overall_usage_prompt_cache_read_pct"); found {
			one, known = b.Stats["avg"]/100, true
		}
		if !known {
			return 0, false
		}
		share += one / float64(len(s.Runs))
	}
	return share, len(s.Runs) > 0
}

// differInNote says that two systems differ in a kind of input, and what made them differ, as far as their files tell.
func differInNote(base, next *System, kind string, configuration []Difference) string {
	text := fmt.Sprintf("%s and %s differ in their %s", base.Name, next.Name, kind)
	why := ""
	switch kind {
	case "dataset":
		why = datasetCause(base, next, configuration)
	case "tokenizer":
		why = tokenizerCause(configuration)
	}
	if why == "" {
		return text
	}
	return text + ": " + why
}

// datasetCause says what made two data sets differ: keys of the configuration, else the seed that was not given, else
// the content of a file; "" where the files say nothing.
func datasetCause(base, next *System, configuration []Difference) string {
	var parts []string
	for _, d := range configuration {
		if strings.HasPrefix(d.Key, "datasets") || strings.HasSuffix(d.Key, "random_seed") ||
			strings.HasPrefix(d.Key, "tokenizer") {
			parts = append(parts, d.text())
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	if len(base.Runs) == 0 || len(next.Runs) == 0 {
		return ""
	}
	keys, values := flattened(base.Runs[0].Figures.Config)
	seeded, file, generated := false, "", false
	for _, key := range keys {
		switch name := shortKey(key); {
		case strings.HasSuffix(name, "random_seed"):
			seeded = true
		case strings.HasPrefix(name, "datasets") && strings.HasSuffix(name, ".path"):
			file = values[key]
		case strings.HasPrefix(name, "datasets") && strings.HasSuffix(name, ".type"):
			generated = generated || values[key] == "synthetic"
		}
	}
	switch {
	case file != "":
		return "the same options, and another content of " + file
	case generated && !seeded:
		return "without --random-seed each run draws its own prompts, of the same lengths; give both the same seed"
	}
	return ""
}

// tokenizerCause names the tokenizers, where their names differ.
func tokenizerCause(configuration []Difference) string {
	for _, d := range configuration {
		if d.Key == "tokenizer.name" {
			return d.text()
		}
	}
	return "the same name, and other files"
}

// incomplete reports whether a run of the systems did not complete.
func incomplete(systems ...*System) bool {
	return slices.ContainsFunc(systems, func(s *System) bool {
		return slices.ContainsFunc(s.Runs, func(r Run) bool { return r.Figures.Incomplete != "" })
	})
}

// kinds returns the different hashes of a kind among the runs, sorted.
func kinds(s *System, kind string) []string {
	var out []string
	for i := range s.Runs {
		if hash := s.Runs[i].Figures.Kinds[kind]; hash != "" {
			out = append(out, hash)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
