package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/stats"
)

// historyName is the file of a search over runs, in the folder of the experiment.
const historyName = "search_history.json"

// Sweep is what the files of a sweep or of a search over runs say, of this program or of the original.
type Sweep struct {
	Name string
	// Cells are those that have figures, in the order of the file.
	Cells []SweepCell
	// parameters are the names of what is swept, each once.
	parameters []string
	best       []bestCell
	filters    []sweepFilter
	// failed counts the runs that do not count, skipped the cells without figures, front those of the Pareto front.
	failed, skipped, front int
	file                   string
	// boundary is what a search of one dimension found; nil for none.
	boundary *boundary
}

// SweepCell is a cell of a sweep: its figures are those of its System.
type SweepCell struct {
	System
	// Parameters are what the cell sets.
	Parameters artifact.Object
}

type bestCell struct {
	name, unit string
	parameters artifact.Object
	value      float64
}

type sweepFilter struct {
	Metric    string `json:"metric_tag"`
	Stat, Op  string
	Threshold *float64 // absent: never met
}

type boundary struct {
	// name is the last part of the path that was searched.
	name string
	// most is nil if not even the smallest value met the limits.
	most *float64
}

// sweepFile is profile_export_aiperf_sweep.json.
type sweepFile struct {
	Type     string            `json:"aggregation_type"`
	Failed   []json.RawMessage `json:"failed_runs"`
	Metadata struct {
		Parameters []struct {
			Name string
		} `json:"sweep_parameters"`
		Combinations int `json:"num_combinations"`
		Constraints  struct {
			Filters []sweepFilter `json:"active_filters"`
		} `json:"sla_constraints"`
		Level  float64 `json:"confidence_level"`
		Trials int     `json:"num_trials_per_value"`
	}
	Combinations []struct {
		Parameters artifact.Object
		Metrics    map[string]map[string]any
	} `json:"per_combination_metrics"`
	Best map[string]struct {
		Parameters artifact.Object
		Metric     *float64
		Unit       string
	} `json:"best_configurations"`
	Front []json.RawMessage `json:"pareto_optimal"`
}

// sweepPaths are where the file of a sweep may be below a path that was given.
func sweepPaths(path string) []string {
	name := config.Artifacts{}.Name(config.SweepJSON)
	return []string{path, filepath.Join(path, filepath.Base(name)), filepath.Join(path, name),
		filepath.Join(path, "aggregate", name)}
}

// LoadSweep reads the results of a sweep or of a search: the folder of the experiment or the file itself. It returns
// nil if the path is neither.
func LoadSweep(path string) (*Sweep, error) {
	s := &Sweep{Name: path}
	for _, file := range sweepPaths(path) {
		data, err := bounded.ReadFile(file)
		if err != nil {
			continue // a folder, or not there: whoever reads a run reports it
		}
		var kind struct {
			Type string `json:"aggregation_type"`
		}
		if json.Unmarshal(data, &kind) != nil || kind.Type != "sweep" {
			continue
		}
		if err := s.read(data); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s.file = file
		break
	}
	if err := s.readHistory(path); err != nil {
		return nil, err
	}
	if s.file == "" {
		return nil, nil
	}
	return s, nil
}

func (s *Sweep) read(data []byte) error {
	var f sweepFile
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("not the aggregate of a sweep: %w", err)
	}
	for _, p := range f.Metadata.Parameters {
		s.parameters = append(s.parameters, p.Name)
	}
	s.filters, s.failed, s.front = f.Metadata.Constraints.Filters, len(f.Failed), len(f.Front)
	s.skipped = max(0, f.Metadata.Combinations-len(f.Combinations))
	for i := range f.Combinations {
		c := &f.Combinations[i]
		for _, m := range c.Parameters {
			if !slices.Contains(s.parameters, m.Key) {
				s.parameters = append(s.parameters, m.Key)
			}
		}
		cell := SweepCell{Parameters: c.Parameters, System: System{Name: parametersText(c.Parameters), file: s.Name,
			repeats: max(1, f.Metadata.Trials), aggregate: make(map[string]aggregated, len(c.Metrics))}}
		for key, block := range c.Metrics {
			cell.add(key, block, f.Metadata.Level, f.Metadata.Trials)
		}
		s.Cells = append(s.Cells, cell)
	}
	for name, b := range f.Best {
		if b.Metric != nil {
			s.best = append(s.best, bestCell{name, b.Unit, b.Parameters, *b.Metric})
		}
	}
	slices.SortFunc(s.best, func(a, b bestCell) int { return strings.Compare(a.name, b.name) })
	return nil
}

// add takes a figure into a cell. A block with an average is a whole metric, as the original writes it with one trial.
func (c *SweepCell) add(key string, block map[string]any, level float64, trials int) {
	value := func(name string) (float64, bool) { v, ok := block[name].(float64); return v, ok }
	unit, _ := block["unit"].(string)
	mean, ok := value("mean")
	if _, whole := block["avg"]; whole {
		for name := range block {
			if v, ok := value(name); ok && (slices.Contains(distributionStats, name) || isPercentile(name)) {
				c.aggregate[key+"_"+name] = aggregated{sampleMoments{n: 1, mean: v}, unit}
			}
		}
		return
	}
	if !ok {
		return
	}
	a := aggregated{sampleMoments{n: 1, mean: mean}, unit}
	if std, known := value("std"); known && trials > 1 {
		low, _ := value("ci_low")
		high, _ := value("ci_high")
		a.moments.variance, a.moments.n = std*std, valuesBehind((high-low)/2, std, level, trials)
	}
	c.aggregate[key] = a
}

// valuesBehind returns of how many values a deviation is, which the file does not say: the half width of the interval
// does.
func valuesBehind(half, std, level float64, most int) float64 {
	for n := 2; n < most; n++ {
		if want := stats.StudentT(level, float64(n-1)) * std / math.Sqrt(float64(n)); std > 0 &&
			math.Abs(half-want) < 1e-6*want {
			return float64(n)
		}
	}
	return float64(most)
}

func isPercentile(stat string) bool { _, ok := percentileOf(stat); return ok }

// parametersText returns the values of a cell as name=value, name=value.
func parametersText(o artifact.Object) string {
	parts := make([]string, len(o))
	for i, m := range o {
		text, isText := m.Value.(string)
		if !isText {
			encoded, _ := artifact.AppendJSON(nil, m.Value) // it was read from JSON
			text = string(encoded)
		}
		parts[i] = m.Key + "=" + text
	}
	return strings.Join(parts, ", ")
}

// readHistory reads what a search found. A path without one has none.
func (s *Sweep) readHistory(path string) error {
	file := filepath.Join(path, historyName)
	if filepath.Base(path) == historyName {
		file = path
	}
	data, err := bounded.ReadFile(file)
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return nil
	}
	if err != nil {
		return err
	}
	var history struct {
		Iterations []json.RawMessage
		Config     struct {
			Space []struct{ Path string } `json:"search_space"`
		}
		Boundary *struct {
			Path string `json:"swept_dim_path"`
			Most *struct {
				Value *float64
			} `json:"feasible_max"`
		} `json:"boundary_summary"`
	}
	if err := json.Unmarshal(data, &history); err != nil {
		return fmt.Errorf("%s: not the history of a search: %w", file, err)
	}
	if s.file == "" {
		s.file = file
	}
	for _, d := range history.Config.Space {
		if name := lastSegment(d.Path); !slices.Contains(s.parameters, name) {
			s.parameters = append(s.parameters, name)
		}
	}
	if b := history.Boundary; b != nil {
		s.boundary = &boundary{name: lastSegment(b.Path)}
		if b.Most != nil {
			s.boundary.most = b.Most.Value
		}
	}
	return nil
}

// lastSegment returns the name of a path of the configuration: that of what is distributed for a distribution.
func lastSegment(path string) string {
	parts := strings.Split(path, ".")
	if n := len(parts); n > 1 && parts[n-1] == "mean" {
		return parts[n-2]
	}
	return parts[len(parts)-1]
}

// feasible reports whether the figures of a cell meet all limits of the sweep.
func (s *Sweep) feasible(c *SweepCell) bool {
	for _, f := range s.filters {
		v, ok := c.figure(f.Metric, f.Stat)
		if !ok || f.Threshold == nil || !meets(v, f.Op, *f.Threshold) {
			return false
		}
	}
	return true
}

// figure returns the mean of a figure over the runs of a cell.
func (c *SweepCell) figure(tag, stat string) (float64, bool) {
	m, ok := c.moments(tag, stat)
	return m.mean, ok
}

// meets reports whether a value is as a filter or a condition wants it.
func meets(v float64, op string, limit float64) bool {
	switch op {
	case "lt", "<":
		return v < limit
	case "le", "<=":
		return v <= limit
	case "gt", ">":
		return v > limit
	default:
		return v >= limit
	}
}
