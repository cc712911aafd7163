package run

import (
	"context"
	"math"
	"sync"

	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
)

// phaseEngines are engines of phases that share theirs with others of their kind, by index; nil for the others.
type phaseEngines []*metrics.Engine

func (p phaseEngines) add(r *record.Record) {
	if p[r.PhaseIndex] != nil {
		p[r.PhaseIndex].Add(r)
	}
}

// phaseMarks are what was known of what is collected alongside the load at the two ends of phases.
type phaseMarks struct {
	passive
	*base
	// servers and gpus return the failures of what is collected of them so far.
	servers, gpus func() []gpu.Failure

	mu           sync.Mutex
	begun, ended map[int]phaseMark
}

// phaseMark is an instant, wall epoch ns, and the failures of collectors up to then.
type phaseMark struct {
	atNS          int64
	servers, gpus []gpu.Failure
}

func (m *phaseMarks) put(at map[int]phaseMark, phase int, mark phaseMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at[phase] = mark
}

func (m *phaseMarks) of(phase int) (begun, ended phaseMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begun[phase], m.ended[phase]
}

// gates leave marks: before what comes before a phase, and after what comes after it.
func (m *phaseMarks) gates(next load.Gates) load.Gates {
	out := next
	out.BeforeFirstCredit = func(ctx context.Context, phase int) {
		m.put(m.begun, phase, m.now())
		if next.BeforeFirstCredit != nil {
			next.BeforeFirstCredit(ctx, phase)
		}
	}
	out.AfterLastReturn = func(ctx context.Context, phase int) {
		if next.AfterLastReturn != nil {
			next.AfterLastReturn(ctx, phase)
		}
		m.put(m.ended, phase, m.now())
	}
	return out
}

func (m *phaseMarks) now() phaseMark {
	return phaseMark{atNS: m.clock.WallNS(m.clock.NowNS()), servers: m.servers(), gpus: m.gpus()}
}

// since are the failures after others; both lists have them in the order of their first.
func since(before, now []gpu.Failure) []gpu.Failure {
	var list []gpu.Failure
	for i, f := range now {
		if i < len(before) {
			f.Count -= before[i].Count
		}
		if f.Count > 0 {
			list = append(list, f)
		}
	}
	return list
}

// until is up to when what was collected belongs to each of the phases that ran: the next one begins after it. What
// came after the last one belongs to it without a bound.
func (m *phaseMarks) until(ran []summary.Phase) []int64 {
	list := make([]int64, len(ran))
	for i := range ran {
		list[i] = math.MaxInt64
		if i+1 < len(ran) {
			_, ended := m.of(ran[i].Index)
			list[i] = max(ran[i].EndNS, min(ended.atNS, ran[i+1].StartNS-1))
		}
	}
	return list
}
