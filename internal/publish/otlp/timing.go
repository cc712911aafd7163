package otlp

import (
	"context"
	"fmt"
	"iter"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"aiperf/internal/load"
)

// timingPrefix begins the names of the load's figures, for which the conventions have none.
const timingPrefix = "aiperf.timing."

// counters only grow: they get the positive difference to the snapshot before.
var counters = []struct {
	name, description string
	value             func(*load.Stats) int64
}{
	{"requests.sent", "Requests sent.", func(s *load.Stats) int64 { return s.RequestsSent }},
	{"requests.completed", "Requests that returned and were not cut off, failures included.",
		func(s *load.Stats) int64 { return s.RequestsCompleted }},
	{"requests.cancelled", "Requests cut off at the end of a phase.",
		func(s *load.Stats) int64 { return s.RequestsCancelled }},
	{"requests.errors", "Requests that failed.", func(s *load.Stats) int64 { return s.RequestErrors }},
	{"sessions.sent", "Sessions started.", func(s *load.Stats) int64 { return s.SentSessions }},
	{"sessions.completed", "Sessions whose last turn returned.",
		func(s *load.Stats) int64 { return s.CompletedSessions }},
	{"sessions.cancelled", "Sessions cut off at the end of a phase.",
		func(s *load.Stats) int64 { return s.CancelledSessions }},
	{"sessions.turns_total", "Turns of the sessions that were started.",
		func(s *load.Stats) int64 { return s.TotalSessionTurns }},
}

// levels go up and down: they get the signed difference, so that the sum is the value.
var levels = []struct {
	name, unit, description string
	value                   func(s *load.Stats, nowNS int64) float64
}{
	{"requests.in_flight", "1", "Requests sent that have not returned.",
		func(s *load.Stats, _ int64) float64 { return float64(s.RequestsInFlight()) }},
	{"sessions.in_flight", "1", "Sessions started that have not ended.",
		func(s *load.Stats, _ int64) float64 { return float64(s.SessionsInFlight()) }},
	{"phase.timeout_triggered", "1", "1 once the phase's duration is over.",
		func(s *load.Stats, _ int64) float64 { return bit(s.TimeoutTriggered) }},
	{"phase.grace_timeout_triggered", "1", "1 once its grace period is over, too.",
		func(s *load.Stats, _ int64) float64 { return bit(s.GracePeriodTimeoutTriggered) }},
	{"phase.was_cancelled", "1", "1 once the phase was cancelled.",
		func(s *load.Stats, _ int64) float64 { return bit(s.WasCancelled) }},
	{"phase.elapsed_sec", "s", "Age of the phase, at its end if it has ended.",
		func(s *load.Stats, nowNS int64) float64 { return s.Elapsed(nowNS).Seconds() }},
}

// TimingValues are the figures of a phase, each with its name: for those who pass them on in another way.
func TimingValues(s *load.Stats, nowNS int64) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, c := range counters {
			if !yield(timingPrefix+c.name, float64(c.value(s))) {
				return
			}
		}
		for _, l := range levels {
			if !yield(timingPrefix+l.name, l.value(s, nowNS)) {
				return
			}
		}
	}
}

// unchanged is the difference up to which a level counts as the same.
const unchanged = 1e-9

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timing turns snapshots of the load into counters. It belongs to one goroutine.
type timing struct {
	labels   labels
	counters []metric.Int64Counter
	levels   []metric.Float64UpDownCounter
	// seen are the phases of the snapshot before, by their index.
	seen map[int]*seenPhase
}

type seenPhase struct {
	attributes []metric.AddOption
	counts     []int64
	levels     []float64
}

func newTiming(meter metric.Meter, l labels) (*timing, error) {
	t := &timing{labels: l, seen: map[int]*seenPhase{}}
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

// observe takes a snapshot: what has not changed since the one before adds nothing.
func (t *timing) observe(phases []load.Stats, nowNS int64) {
	ctx := context.Background()
	for i := range phases {
		s := &phases[i]
		before := t.phase(s)
		for k := range counters {
			now := counters[k].value(s)
			if now > before.counts[k] {
				t.counters[k].Add(ctx, now-before.counts[k], before.attributes...)
				before.counts[k] = now
			}
		}
		for k := range levels {
			now := levels[k].value(s, nowNS)
			if difference := now - before.levels[k]; math.Abs(difference) >= unchanged {
				t.levels[k].Add(ctx, difference, before.attributes...)
				before.levels[k] = now
			}
		}
	}
}

func (t *timing) phase(s *load.Stats) *seenPhase {
	if p := t.seen[s.Index]; p != nil {
		return p
	}
	list := append(t.labels.list(), attribute.String("aiperf.benchmark_phase", s.Kind.String()))
	if s.Name != "" && s.Name != s.Kind.String() {
		list = append(list, attribute.String("aiperf.benchmark_phase_name", s.Name))
	}
	if s.ExpectedRequests > 0 {
		list = append(list, attribute.Int64("aiperf.total_expected_requests", s.ExpectedRequests))
	}
	p := &seenPhase{
		attributes: []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(list...))},
		counts:     make([]int64, len(counters)), levels: make([]float64, len(levels)),
	}
	t.seen[s.Index] = p
	return p
}
