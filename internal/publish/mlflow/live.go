package mlflow

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/otlp"
	"aiperf/internal/publish/progress"
)

// livePrefix begins the keys of what is added while the load runs.
const livePrefix = "live."

// live collects scalars: the mean of each metric over the requests that finished since the last time, the sums of
// counts over the whole run, and the numbers of each phase.
type live struct {
	samples []metrics.Sample
	// keys are the keys of each sample, with the factor to the unit of the key.
	keys [][]scaledKey

	mu     sync.Mutex // of what follows
	sums   []sum
	values []float64
	phases []progress.Phase
	// accuracy is nil where no answers are graded.
	accuracy *progress.Accuracy

	step     int64
	reported map[string]float64
}

type scaledKey struct {
	key   string
	scale float64
}

type sum struct {
	total float64
	count int64
}

func newLive(set *metrics.Set) *live {
	l := &live{samples: set.Samples(), reported: map[string]float64{}}
	l.sums = make([]sum, len(l.samples))
	for _, s := range l.samples {
		var keys []scaledKey
		for _, n := range otlp.Names(s.Tag, s.Unit) {
			key := livePrefix + n.Name
			if n.TokenType != "" {
				key += "." + n.TokenType
			}
			keys = append(keys, scaledKey{key, n.Scale})
		}
		l.keys = append(l.keys, keys)
	}
	return l
}

// record takes a finished request of profiling.
func (l *live) record(r *record.Record) {
	if r.Phase == record.PhaseWarmup {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.samples {
		l.values = l.samples[i].AppendValues(l.values[:0], r)
		for _, v := range l.values {
			l.sums[i].total += v
		}
		l.sums[i].count += int64(len(l.values))
	}
}

// show takes the numbers of the load and of graded answers.
func (l *live) show(phases []progress.Phase, accuracy *progress.Accuracy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phases, l.accuracy = phases, accuracy
}

// points returns the scalars since the last time, without counts and numbers of the load that have not changed.
func (l *live) points(now time.Time) []point {
	l.mu.Lock()
	sums := slices.Clone(l.sums)
	for i := range l.sums {
		if l.samples[i].Kind == metrics.KindRecord {
			l.sums[i] = sum{}
		}
	}
	phases, accuracy := l.phases, l.accuracy
	l.mu.Unlock()
	var list []point
	add := func(key string, v float64) {
		list = append(list, point{key, v, now.UnixMilli(), l.step})
	}
	l.step++
	changed := func(key string, v float64) {
		if before, known := l.reported[key]; !known || before != v {
			l.reported[key] = v
			add(key, v)
		}
	}
	for i, s := range sums {
		if s.count == 0 {
			continue
		}
		for _, k := range l.keys[i] {
			if l.samples[i].Kind == metrics.KindRecord {
				add(k.key, s.total/float64(s.count)*k.scale)
			} else {
				changed(k.key, s.total*k.scale)
			}
		}
	}
	for name, v := range otlp.AccuracyValues(accuracy) {
		changed(strings.Map(keyRune, livePrefix+name), v)
	}
	for i := range phases {
		p := &phases[i]
		for name, v := range otlp.TimingValues(p) {
			key := livePrefix + name + "." + phaseName(phases, i)
			if _, known := l.reported[key]; known || v != 0 { // what never happened is absent
				changed(key, v)
			}
		}
	}
	return list
}

// phaseName returns the name of a phase for a key, unique among the phases.
func phaseName(phases []progress.Phase, i int) string {
	name := strings.Map(keyRune, phases[i].Name)
	for k := range i {
		if phases[k].Name == phases[i].Name {
			return name + "_" + strconv.Itoa(i)
		}
	}
	return name
}

// keyRune replaces what the server does not allow in a key.
func keyRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-. /", r):
		return r
	}
	return '_'
}
