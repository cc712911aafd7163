package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/result/answer"
)

// Sweep is what the files of a sweep or of a search over runs say, of this program or of the original.
type Sweep struct {
	Name string
	// Cells are those that have figures, in the order of the file.
	Cells []SweepCell
	// parameters are the names of what is swept, each once.
	parameters []string
	// sweep has the aggregate of the cells, search the history; either may be nil.
	sweep, search *answer.Sweep
}

// SweepCell is a cell of a sweep: its figures are those of its System.
type SweepCell struct {
	System
	// Parameters are what the cell sets.
	Parameters artifact.Object
	feasible   bool
}

// sweepPaths are where the file of a sweep may be below a path that was given.
func sweepPaths(path string) []string {
	name := config.Artifacts{}.Name(config.SweepJSON)
	return []string{path, filepath.Join(path, filepath.Base(name)), filepath.Join(path, name),
		filepath.Join(path, "aggregate", name)}
}

// historyPaths are where that of a search may be.
func historyPaths(path string) []string {
	const name = "search_history.json"
	if filepath.Base(path) == name {
		return []string{path}
	}
	return []string{filepath.Join(path, name)}
}

// LoadSweep reads the results of a sweep or of a search: the folder of the experiment or the file itself, or the runs of
// another tool at several loads. It returns nil if the path is none of these.
func LoadSweep(path string) (*Sweep, error) {
	s := &Sweep{Name: path}
	var err error
	s.sweep, err = readFirst(sweepPaths(path), answer.Read, func(data []byte) bool {
		var kind struct {
			Type string `json:"aggregation_type"`
		}
		return json.Unmarshal(data, &kind) == nil && kind.Type == "sweep"
	})
	if err != nil {
		return nil, err
	}
	s.search, err = readFirst(historyPaths(path), answer.ReadSearch, func([]byte) bool { return true })
	if err != nil {
		return nil, err
	}
	if s.sweep == nil && s.search == nil {
		return foreignSweep(path)
	}
	for _, of := range []*answer.Sweep{s.sweep, s.search} {
		if of == nil {
			continue
		}
		for _, p := range of.Parameters {
			if !slices.Contains(s.parameters, p.Name) {
				s.parameters = append(s.parameters, p.Name)
			}
		}
	}
	s.fill()
	return s, nil
}

// readFirst reads the first file that is there and of the kind; nil if none is.
func readFirst(paths []string, read func([]byte) (*answer.Sweep, error), kind func([]byte) bool) (*answer.Sweep,
	error) {
	for _, path := range paths {
		data, err := bounded.ReadFile(path)
		if err != nil || !kind(data) { // a folder, or not there: whoever reads a run reports it
			continue
		}
		s, err := read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
	return nil, nil
}

// fill makes the systems of the cells.
func (s *Sweep) fill() {
	if s.sweep == nil {
		return
	}
	units := make(map[string]string, len(s.sweep.Metrics))
	for _, m := range s.sweep.Metrics {
		units[m.Key()] = m.Unit
	}
	for i := range s.sweep.Cells {
		c := &s.sweep.Cells[i]
		cell := SweepCell{feasible: c.Verdict != answer.Infeasible, System: System{Name: c.Label, file: s.Name,
			repeats: max(1, c.Runs), aggregate: make(map[string]aggregated, len(c.Figures))}}
		for k, p := range s.sweep.Parameters {
			if v := c.Values[k]; v != nil {
				cell.Parameters = append(cell.Parameters, artifact.Member{Key: p.Name, Value: v})
			}
		}
		for key, f := range c.Figures {
			of := sampleMoments{n: math.Max(1, float64(f.Runs)), mean: f.Mean, variance: f.Std * f.Std}
			cell.aggregate[key] = aggregated{of, units[key]}
		}
		s.Cells = append(s.Cells, cell)
	}
}

// Parameters returns the names of what was swept or searched.
func (s *Sweep) Parameters() []string { return s.parameters }

// best returns the best configurations by their names in the file.
func (s *Sweep) best() map[string]answer.Best {
	list := map[string]answer.Best{}
	if s.sweep != nil {
		for _, b := range s.sweep.Best {
			list[b.Key] = b
		}
	}
	return list
}

// figure returns the mean of a figure over the runs of a cell.
func (c *SweepCell) figure(tag, stat string) (float64, bool) {
	m, ok := c.moments(tag, stat)
	return m.mean, ok
}

// key identifies the cell among those of other sweeps, whatever the order of its values.
func (c *SweepCell) key() string {
	text, _ := artifact.AppendJSON(nil, c.Parameters.Sorted()) // it was read from JSON
	return strings.ToLower(string(text))
}
