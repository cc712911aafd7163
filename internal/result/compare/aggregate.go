package compare

import (
	"encoding/json"
	"math"
	"strings"

	"aiperf/internal/base/bounded"
)

// aggregateFile is the aggregate of repeats, of this program or of the original.
type aggregateFile struct {
	Metadata struct {
		Type       string `json:"aggregation_type"`
		Successful int    `json:"num_successful_runs"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Mean, Std, SE *float64
		Unit          string
	} `json:"metrics"`
}

// aggregated is what an aggregate says of a figure.
type aggregated struct {
	moments sampleMoments
	unit    string
}

// readAggregate reads the file at path, which may be of any kind: false if it is not an aggregate of repeats.
func (s *System) readAggregate(path string) bool {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return false
	}
	var f aggregateFile
	if json.Unmarshal(data, &f) != nil || f.Metadata.Type != "confidence" {
		return false
	}
	s.file, s.aggregate = path, map[string]aggregated{}
	s.repeats = f.Metadata.Successful
	for key, m := range f.Metrics {
		if m.Mean == nil {
			continue
		}
		// A figure may be that of some runs only: their number follows from std and standard error.
		a := aggregated{sampleMoments{n: 1, mean: *m.Mean}, m.Unit}
		switch {
		case m.Std == nil:
		case m.SE != nil && *m.SE > 0:
			a.moments.n, a.moments.variance = math.Round(math.Pow(*m.Std / *m.SE, 2)), *m.Std**m.Std
		default:
			a.moments.n = float64(f.Metadata.Successful)
		}
		s.aggregate[key] = a
	}
	return len(s.aggregate) > 0
}

// moments are those of a figure over the runs that have it; false if none has.
func (s *System) moments(tag, stat string) (sampleMoments, bool) {
	if s.aggregate != nil {
		a, ok := s.aggregate[tag+"_"+stat]
		return a.moments, ok
	}
	values := s.values(tag, stat)
	return momentsOf(values), len(values) > 0
}

// has reports whether a metric is there.
func (s *System) has(tag string) bool {
	_, ok := s.moments(tag, "avg")
	return ok
}

// hasStat reports whether any metric has the statistic.
func (s *System) hasStat(stat string) bool {
	for key := range s.aggregate {
		if strings.HasSuffix(key, "_"+stat) {
			return true
		}
	}
	for i := range s.Runs {
		for _, b := range s.Runs[i].Figures.Blocks {
			if _, ok := b.Stats[stat]; ok {
				return true
			}
		}
	}
	return false
}

// unitOf is the unit of a metric.
func (s *System) unitOf(tag, stat string) string {
	if s.aggregate != nil {
		return s.aggregate[tag+"_"+stat].unit
	}
	block, _ := s.Runs[0].Figures.Find(tag)
	return block.Unit
}

// count is the number of runs.
func (s *System) count() int {
	if s.aggregate != nil {
		return s.repeats
	}
	return len(s.Runs)
}

// files are what was read.
func (s *System) files() []string {
	if s.aggregate != nil {
		return []string{s.file}
	}
	var list []string
	for i := range s.Runs {
		list = append(list, s.Runs[i].Summary)
	}
	return list
}
