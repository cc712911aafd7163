package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/measure/record"
)

// SLO is a service level objective: a metric of requests or of jobs and its limit in the metric's display unit. The
// limit is a minimum for metrics of which larger is better, else a maximum, and passes itself.
type SLO struct {
	Tag   string  `json:"tag"`
	Value float64 `json:"value"`
}

// NewSLO checks that tag, or the one that it is an alias of, is a metric with one value per request or job, and value a
// finite number ≥ 0.
func NewSLO(tag string, value float64) (SLO, error) {
	tag = Canonical(tag)
	d, known := Lookup(tag)
	switch {
	case !known:
		return SLO{}, fmt.Errorf("%s is not a metric tag; %s lists them", tag, manual.Page("metrics"))
	case !d.Kind.HasRows():
		return SLO{}, fmt.Errorf("%s is a metric of the whole run (%s); an objective needs one value per request or job", tag,
			d.Kind)
	case d.IsList():
		return SLO{}, fmt.Errorf("%s has a list of values per request; an objective needs one", tag)
	case math.IsNaN(value) || math.IsInf(value, 0) || value < 0:
		return SLO{}, fmt.Errorf("%s: %v is not a limit; give a finite number of at least 0", tag, value)
	}
	return SLO{Tag: tag, Value: value}, nil
}

// objective is an SLO bound to its metric, the limit in the metric's internal unit.
type objective struct {
	metric *metric
	limit  float64
}

// bindObjectives finds the metrics of the objectives among those that the run computes.
func bindObjectives(slos []SLO, active map[string]*metric) ([]objective, error) {
	var out []objective
	var missing []string
	for _, slo := range slos {
		if _, err := NewSLO(slo.Tag, slo.Value); err != nil {
			return nil, fmt.Errorf("goodput: %w", err)
		}
		m := active[slo.Tag]
		if m == nil || m.Flags.Has(ErrorOnly) {
			missing = append(missing, slo.Tag)
			continue
		}
		out = append(out, objective{m, slo.Value * m.toInternal()})
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("goodput: not measured with this endpoint and these flags: %s (streaming metrics need "+
			"--streaming)",
			strings.Join(slices.Compact(missing), ", "))
	}
	return out, nil
}

// isGood reports whether a valid record meets every objective for requests.
func (s *Set) isGood(f *record.Facts) bool { return meets(s.objectives, f) }

// meets reports whether a row meets every objective; one without a value does not.
func meets(objectives []objective, f *record.Facts) bool {
	for _, o := range objectives {
		v, ok := o.metric.value(f)
		if !ok {
			return false
		}
		if o.metric.LargerIsBetter() {
			ok = v >= o.limit
		} else {
			ok = v <= o.limit
		}
		if !ok {
			return false
		}
	}
	return true
}

// HasObjectives reports whether the run has service level objectives for requests.
func (s *Set) HasObjectives() bool { return len(s.objectives) > 0 }

// Judge writes the fact record.Good into a valid record of a run with objectives.
func (s *Set) Judge(rec *record.Record) {
	if s.HasObjectives() && !rec.IsError() {
		rec.Facts[record.Good] = count(s.isGood(&rec.Facts))
	}
}
