package otlp

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"aiperf/internal/publish/progress"
)

// timingPrefix begins the names of the load's metrics, for which the conventions have none.
const timingPrefix = "aiperf.timing."

// counters only grow: the difference to the previous snapshot is added.
var counters = []struct {
	name, description string
	value             func(*progress.Phase) int64
}{
	{"requests.sent", "Requests sent.", func(p *progress.Phase) int64 { return p.RequestsSent }},
	{"requests.completed", "Requests that returned and were not cut off, failures included.",
		func(p *progress.Phase) int64 { return p.RequestsCompleted }},
	{"requests.cancelled", "Requests cut off at the end of a phase.",
		func(p *progress.Phase) int64 { return p.RequestsCancelled }},
	{"requests.errors", "Requests that failed.", func(p *progress.Phase) int64 { return p.RequestErrors }},
	{"sessions.sent", "Sessions started.", func(p *progress.Phase) int64 { return p.SentSessions }},
	{"sessions.completed", "Sessions whose last turn returned.",
		func(p *progress.Phase) int64 { return p.CompletedSessions }},
	{"sessions.cancelled", "Sessions cut off at the end of a phase.",
		func(p *progress.Phase) int64 { return p.CancelledSessions }},
	{"sessions.turns_total", "Turns of the sessions that were started.",
		func(p *progress.Phase) int64 { return p.TotalSessionTurns }},
}

// levels go up and down: the signed difference is added, so that the sum is the value.
var levels = []struct {
	name, unit, description string
	value                   func(*progress.Phase) float64
}{
	{"requests.in_flight", "1", "Requests sent that have not returned.",
		func(p *progress.Phase) float64 { return float64(p.RequestsInFlight()) }},
	{"sessions.in_flight", "1", "Sessions started that have not ended.",
		func(p *progress.Phase) float64 { return float64(p.SessionsInFlight()) }},
	{"phase.timeout_triggered", "1", "1 once the phase's duration is over.",
		func(p *progress.Phase) float64 { return bit(p.TimeoutTriggered) }},
	{"phase.grace_timeout_triggered", "1", "1 once its grace period is over, too.",
		func(p *progress.Phase) float64 { return bit(p.GracePeriodTimeoutTriggered) }},
	{"phase.was_cancelled", "1", "1 once the phase was cancelled.",
		func(p *progress.Phase) float64 { return bit(p.WasCancelled) }},
	{"phase.elapsed_sec", "s", "Age of the phase, at its end if it has ended.",
		func(p *progress.Phase) float64 { return p.Elapsed.Seconds() }},
}

// TimingValues returns the metrics of a phase with their names, for other publishers.
func TimingValues(p *progress.Phase) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, c := range counters {
			if !yield(timingPrefix+c.name, float64(c.value(p))) {
				return
			}
		}
		for _, l := range levels {
			if !yield(timingPrefix+l.name, l.value(p)) {
				return
			}
		}
	}
}

// unchanged is the largest difference of a level that is not pushed.
const unchanged = 1e-9

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timing turns snapshots of the load into counters. One goroutine uses it.
type timing struct {
	labels   labels
	counters []metric.Int64Counter
	levels   []metric.Float64UpDownCounter
	// accuracy are the gauges of graded answers by the tags of their metrics.
	meter    metric.Meter
	accuracy map[string]metric.Float64Gauge
	// seen holds the phases of the previous snapshot by their index.
	seen map[int]*seenPhase
}

type seenPhase struct {
	attributes []metric.AddOption
	counts     []int64
	levels     []float64
}

func newTiming(meter metric.Meter, l labels) (*timing, error) {
	t := &timing{labels: l, meter: meter, accuracy: map[string]metric.Float64Gauge{}, seen: map[int]*seenPhase{}}
	for _, c := range counters {
		i, err := meter.Int64Counter(timingPrefix+c.name, metric.WithUnit("1"), metric.WithDescription(c.description))
		if err != nil {
			return nil, fmt.Errorf("instrument %s: %w", c.name, err)
		}
		t.counters = append(t.counters, i)
	}
	for _, l := range levels {
		i, err := meter.Float64UpDownCounter(timingPrefix+l.name, metric.WithUnit(l.unit),
			metric.WithDescription(l.description))
		if err != nil {
			return nil, fmt.Errorf("instrument %s: %w", l.name, err)
		}
		t.levels = append(t.levels, i)
	}
	return t, nil
}

// accuracyPrefix begins the names of the shares of graded answers, for which the conventions have none.
const accuracyPrefix = "aiperf."

// AccuracyValues returns the shares of graded answers with their names, for other publishers.
func AccuracyValues(a *progress.Accuracy) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i := 0; a != nil && i < len(a.Metrics); i++ {
			if !yield(accuracyPrefix+a.Metrics[i].Tag, a.Metrics[i].Stats.Avg) {
				return
			}
		}
	}
}

// grade sets the shares of graded answers.
func (t *timing) grade(a *progress.Accuracy) {
	for name, v := range AccuracyValues(a) {
		gauge := t.accuracy[name]
		if gauge == nil {
			var err error
			// What an instrument's name may not have is in the names of tasks alone.
			if gauge, err = t.meter.Float64Gauge(instrumentName(name), metric.WithUnit("1"),
				metric.WithDescription("Share of graded answers.")); err != nil {
				continue
			}
			t.accuracy[name] = gauge
		}
		gauge.Record(context.Background(), v, metric.WithAttributeSet(attribute.NewSet(t.labels.list()...)))
	}
}

// instrumentName replaces what the name of an instrument may not have.
func instrumentName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-/", r) {
			return r
		}
		return '_'
	}, name)
}

// observe adds the changes since the previous snapshot.
func (t *timing) observe(phases []progress.Phase) {
	ctx := context.Background()
	for i := range phases {
		p := &phases[i]
		before := t.phase(p)
		for k := range counters {
			now := counters[k].value(p)
			if now > before.counts[k] {
				t.counters[k].Add(ctx, now-before.counts[k], before.attributes...)
				before.counts[k] = now
			}
		}
		for k := range levels {
			now := levels[k].value(p)
			if difference := now - before.levels[k]; math.Abs(difference) >= unchanged {
				t.levels[k].Add(ctx, difference, before.attributes...)
				before.levels[k] = now
			}
		}
	}
}

func (t *timing) phase(p *progress.Phase) *seenPhase {
	if seen := t.seen[p.Index]; seen != nil {
		return seen
	}
	list := append(t.labels.list(), attribute.String("aiperf.benchmark_phase", p.Kind))
	if p.Name != "" && p.Name != p.Kind {
		list = append(list, attribute.String("aiperf.benchmark_phase_name", p.Name))
	}
	if p.ExpectedRequests > 0 {
		list = append(list, attribute.Int64("aiperf.total_expected_requests", p.ExpectedRequests))
	}
	seen := &seenPhase{
		attributes: []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(list...))},
		counts:     make([]int64, len(counters)), levels: make([]float64, len(levels)),
	}
	t.seen[p.Index] = seen
	return seen
}
