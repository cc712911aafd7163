package metrics

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/measure/record"
)

// Limits up to which statistics are exact.
const (
	defaultMaxRecords = 1_000_000
	defaultMaxGaps    = 20_000_000
)

// Config says what a run can measure and how it counts.
type Config struct {
	// Streaming is the run's effective streaming mode; the others are capabilities of its endpoint.
	Streaming                                                  bool
	ProducesTokens, TokenizesInput                             bool
	SupportsAudio, SupportsImage, SupportsVideo, ProducesVideo bool
	// ProducesImages reports that the replies are images, ProducesAudio that they are sound.
	ProducesImages, ProducesAudio bool
	// UseServerTokens reports that token counts come from usage, so that there is nothing to compare.
	UseServerTokens bool
	FixedSchedule   bool
	// Accuracy reports that the run grades answers: how long they are was not asked for.
	Accuracy bool
	// OpenLoop reports that requests are sent by a plan of arrivals, not as answers to replies.
	OpenLoop bool
	// ShowInternal and ShowExperimental are already resolved against the developer mode.
	ShowInternal, ShowExperimental bool
	// SLOs are the service level objectives; none = no goodput.
	SLOs []SLO
	// UsageDiffPercent is exceeded by a usage discrepancy; OSLMismatchPercent and OSLMismatchTokens
	// together bound an output length mismatch.
	UsageDiffPercent   float64
	OSLMismatchPercent float64
	OSLMismatchTokens  int64
	// ContextOverflow are the phrases that tell a context overflow in an error message, case ignored.
	ContextOverflow []string
	// SkipContextOverflow leaves such requests out of both successes and errors; they are only counted.
	SkipContextOverflow bool
	// Percentiles are the ranks of further percentiles, in (0, 100), in addition to [PercentileRanks].
	Percentiles []float64
	// PricePerGPUHour is the price of one GPU for an hour in any currency; 0 = no cost.
	PricePerGPUHour float64
	// MaxRecords and MaxGaps bound what is kept exactly.
	MaxRecords, MaxGaps int64
	// SliceNS is the length of a time slice; 0 = no slices. MaxSlices bounds their number: requests
	// that start after the first so many slices with requests are in none.
	SliceNS   int64
	MaxSlices int
}

// DefaultConfig returns a configuration without capabilities, with the documented thresholds and limits.
func DefaultConfig() Config {
	return Config{
		UsageDiffPercent:   10,
		OSLMismatchPercent: 5,
		OSLMismatchTokens:  50,
		ContextOverflow: []string{"context length", "maximum context", "context_length_exceeded",
			"prompt is too long"},
		MaxRecords: defaultMaxRecords,
		MaxGaps:    defaultMaxGaps,
		MaxSlices:  defaultMaxSlices,
	}
}

// Set is the part of the metric table that applies to a run. It is immutable and shared by the
// engines of all phases and the writers of records.
type Set struct {
	cfg Config
	// metrics are in table order; derived are the derived ones in evaluation order.
	metrics    []*metric
	aggregates []*metric
	derived    []*metric
	// valid and failed are what the requests of each kind have a value of.
	valid, failed perRequest
	lines         []line
	// recordMetrics is the number of record metrics.
	recordMetrics int
	// listMetric is the record metric of the chunk gaps; nil when the run has none.
	listMetric *metric
	objectives []objective
	// jobMetrics are those of jobs, jobObjectives the objectives that count for these.
	jobMetrics    []*metric
	jobObjectives []objective
	// adjusted lists the adjusted metrics by the one that they correct.
	adjusted map[string][]*metric
	// mirrors are the metrics of the lines whose value is a fact, by that; listsGaps says that the lines
	// have the chunk gaps.
	mirrors   [record.NumFields]*metric
	listsGaps bool
	// ranks are those of the percentiles: PercentileRanks and what was asked for besides, ascending.
	ranks []float64
}

// perRequest are the record metrics with one number, and the aggregates, of the requests that succeeded, or of those
// that failed.
type perRequest struct{ records, aggregates []*metric }

// of returns what a request has a value of.
func (s *Set) of(failed bool) *perRequest {
	if failed {
		return &s.failed
	}
	return &s.valid
}

// metric is a definition bound to a run.
type metric struct {
	Definition
	ratio float64 // to the display unit
	shown bool
	// slot numbers the metric among those of its kind.
	slot int
}

// NewSet selects the metrics of a run. It fails when an objective names a metric that the run cannot
// measure, and when the table itself is inconsistent.
func NewSet(cfg Config) (*Set, error) { return newSet(table, cfg) }

// newSet chooses the metrics that a configuration has, in an order in which each comes after those that it requires:
// one whose requirements are not all active is not active either.
func newSet(defs []Definition, cfg Config) (*Set, error) {
	order, err := evaluationOrder(defs)
	if err != nil {
		return nil, fmt.Errorf("metric table: %w", err)
	}
	s := &Set{cfg: cfg, adjusted: map[string][]*metric{},
		ranks: slices.Concat(PercentileRanks[:], furtherRanks(cfg.Percentiles))}
	active := make(map[string]*metric, len(defs))
	for _, i := range order {
		d := defs[i]
		if !cfg.applies(d.Flags) || !allActive(active, d.Requires) {
			continue
		}
		m := &metric{Definition: d, ratio: d.toDisplay(), shown: cfg.shows(d.Flags)}
		active[d.Tag] = m
		if d.Kind == KindDerived {
			s.derived = append(s.derived, m)
		}
	}
	s.bind(defs, active)
	all, err := bindObjectives(cfg.SLOs, active)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if o.metric.Kind == KindJob {
			s.jobObjectives = append(s.jobObjectives, o)
		} else {
			s.objectives = append(s.objectives, o)
		}
	}
	return s, nil
}

// furtherRanks returns those that are none of PercentileRanks, ascending, once each.
func furtherRanks(asked []float64) []float64 {
	further := slices.DeleteFunc(slices.Clone(asked),
		func(q float64) bool { return slices.Contains(PercentileRanks[:], q) })
	slices.Sort(further)
	return slices.Compact(further)
}

// bind lists the active metrics in table order and numbers them.
func (s *Set) bind(defs []Definition, active map[string]*metric) {
	slots := map[Kind]int{}
	for i := range defs {
		m, ok := active[defs[i].Tag]
		if !ok {
			continue
		}
		m.slot = slots[m.Kind]
		slots[m.Kind]++
		s.metrics = append(s.metrics, m)
		if m.list {
			s.listMetric = m
		}
		of := s.of(m.Flags.Has(ErrorOnly))
		switch m.Kind {
		case KindRecord:
			if !m.list {
				of.records = append(of.records, m)
			}
		case KindJob:
			s.jobMetrics = append(s.jobMetrics, m)
		case KindAggregate:
			s.aggregates, of.aggregates = append(s.aggregates, m), append(of.aggregates, m)
		case KindAdjusted:
			s.adjusted[m.Requires[0]] = append(s.adjusted[m.Requires[0]], m)
		}
		if m.shown && (m.Kind == KindRecord || m.Kind == KindAggregate) && !m.Flags.Has(NoIndividualRecords) {
			s.lines = append(s.lines, newLine(m))
		}
	}
	s.recordMetrics = slots[KindRecord]
	s.bindMirrors()
}

func allActive(active map[string]*metric, tags []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return active[tag] == nil })
}

// applies reports whether the run can compute a metric with these flags.
func (c *Config) applies(f Flags) bool {
	for _, rule := range []struct {
		flag Flags
		met  bool
	}{
		{StreamingOnly, c.Streaming},
		{ProducesTokensOnly, c.ProducesTokens || f.Has(OrProducesMedia) && (c.ProducesImages || c.ProducesAudio)},
		{TokenizesInputOnly, c.TokenizesInput},
		{SupportsAudioOnly, c.SupportsAudio},
		{SupportsImageOnly, c.SupportsImage},
		{SupportsVideoOnly, c.SupportsVideo},
		{ProducesVideoOnly, c.ProducesVideo},
		{ProducesAudioOnly, c.ProducesAudio},
		{Experimental, c.ShowExperimental},
		{GoodputOnly, c.hasObjectives(KindRecord)},
		{JobGoodputOnly, c.hasObjectives(KindJob)},
		{UsageDiffOnly, !c.UseServerTokens},
		{FixedScheduleOnly, c.FixedSchedule},
		{OpenLoopOnly, c.OpenLoop},
		{DisableOnAccuracy, !c.Accuracy},
		{PricedOnly, c.PricePerGPUHour > 0},
	} {
		if f.Has(rule.flag) && !rule.met {
			return false
		}
	}
	return true
}

// hasObjectives reports whether any objective is one of a kind of metrics.
func (c *Config) hasObjectives(k Kind) bool {
	return slices.ContainsFunc(c.SLOs, func(o SLO) bool {
		d, known := Lookup(o.Tag)
		return known && d.Kind == k
	})
}

// shows reports whether results with these flags leave the program.
func (c *Config) shows(f Flags) bool {
	return (!f.Has(Internal) || c.ShowInternal) && (!f.Has(Experimental) || c.ShowExperimental)
}

// Definitions returns the metrics that this run reports, in table order.
func (s *Set) Definitions() []Definition {
	var out []Definition
	for _, m := range s.metrics {
		if m.shown {
			out = append(out, m.Definition)
		}
	}
	return out
}

// Skips reports whether a request is left out of the results because its context was too long.
func (s *Set) Skips(r *record.Record) bool {
	return s.cfg.SkipContextOverflow && r.IsError() && s.isContextOverflow(r.Err)
}

// isContextOverflow recognises a context overflow by the error's message.
func (s *Set) isContextOverflow(err *record.Error) bool {
	if err == nil {
		return false
	}
	message := strings.ToLower(err.Message)
	return slices.ContainsFunc(s.cfg.ContextOverflow, func(phrase string) bool {
		return strings.Contains(message, strings.ToLower(phrase))
	})
}
