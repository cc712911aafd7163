package dashboard

import (
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

const (
	// period is the length of time of a point of a sparkline, history the number of points that are kept.
	period  = time.Second
	history = 240
	// samples bounds the values of a metric that are kept within a period.
	samples = 256
)

// course is the newest values of a figure, one for each period, the oldest first; NaN where there is none.
type course []float64

// add appends a value and forgets the oldest.
func (c *course) add(v float64) {
	if len(*c) >= history {
		copy(*c, (*c)[1:])
		(*c)[history-1] = v
		return
	}
	*c = append(*c, v)
}

// last returns the newest value that is known, NaN without one.
func (c course) last() float64 {
	for _, v := range slices.Backward(c) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// mean returns the mean of the newest n values that are known.
func (c course) mean(n int) float64 {
	sum, known := 0.0, 0
	for _, v := range c[max(0, len(c)-n):] {
		if !math.IsNaN(v) {
			sum, known = sum+v, known+1
		}
	}
	if known == 0 {
		return math.NaN()
	}
	return sum / float64(known)
}

// trends are the figures whose course is shown.
type trends struct {
	requests, tokens, inFlight, ttft, itl, latency course
}

// clone returns a copy that later values do not change.
func (t *trends) clone() trends {
	c := *t
	for _, p := range [...]*course{&c.requests, &c.tokens, &c.inFlight, &c.ttft, &c.itl, &c.latency} {
		*p = slices.Clone(*p)
	}
	return c
}

// sampler keeps some of the values that a metric has within a period.
type sampler struct {
	metrics.Sample
	known  bool
	scale  float64
	values [samples]float64
	n      int
}

func newSampler(set *metrics.Set, tag string) (s sampler) {
	if set == nil {
		return s
	}
	if s.Sample, s.known = set.Sample(tag); s.known {
		ratio, err := metrics.RatioOf(s.Unit, s.Display)
		s.scale, s.known = ratio, err == nil
	}
	return s
}

// add keeps a value; of more than there is room for, each later one takes the place of an earlier one.
func (s *sampler) add(v float64) {
	i := s.n
	if i >= samples {
		i = int(uint(s.n) * 0x9E3779B1 % samples)
	}
	s.values[i] = v * s.scale
	s.n++
}

// median returns the median of the period and begins the next one; NaN without a value.
func (s *sampler) median() float64 {
	n := min(s.n, samples)
	s.n = 0
	if n == 0 {
		return math.NaN()
	}
	list := s.values[:n]
	slices.Sort(list)
	return list[(n-1)/2]
}

// live gathers what finished requests say within a period. Its methods may be called from any goroutine.
type live struct {
	mu                         sync.Mutex
	ttft, itl, latency, tokens sampler
	tokenSum                   float64
	buffer                     []float64
	workers                    map[string]*worker
}

// worker is a logical worker.
type worker struct {
	id                string
	completed, failed int64
}

// begin forgets what was before and reads the metrics of a run.
func (l *live) begin(set *metrics.Set) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ttft, l.itl = newSampler(set, "time_to_first_token"), newSampler(set, "inter_token_latency")
	l.latency, l.tokens = newSampler(set, "request_latency"), newSampler(set, "output_sequence_length")
	l.tokenSum, l.workers = 0, map[string]*worker{}
}

// record takes a finished request.
func (l *live) record(r *record.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[r.WorkerID]
	if w == nil {
		if l.workers == nil {
			return
		}
		w = &worker{id: r.WorkerID}
		l.workers[r.WorkerID] = w
	}
	if r.IsError() {
		w.failed++
		return
	}
	w.completed++
	for _, s := range [...]*sampler{&l.ttft, &l.itl, &l.latency, &l.tokens} {
		if !s.known {
			continue
		}
		l.buffer = s.AppendValues(l.buffer[:0], r)
		if len(l.buffer) == 0 {
			continue
		}
		if s == &l.tokens {
			l.tokenSum += l.buffer[0]
			continue
		}
		s.add(l.buffer[0])
	}
}

// take adds what was gathered within a period of a length to the trends.
func (l *live) take(t *trends, length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.ttft.add(l.ttft.median())
	t.itl.add(l.itl.median())
	t.latency.add(l.latency.median())
	if l.tokens.known {
		t.tokens.add(l.tokenSum / length.Seconds())
	}
	l.tokenSum = 0
}

// list returns the workers by their names.
func (l *live) list() []worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []worker
	for _, w := range l.workers {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b worker) int {
		if len(a.id) != len(b.id) {
			return len(a.id) - len(b.id)
		}
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

// serverCourses are the courses of the figures of a server, by their names.
type serverCourses map[string]course

// clone returns a copy that later values do not change.
func (s serverCourses) clone() serverCourses {
	c := make(serverCourses, len(s))
	for name, values := range s {
		c[name] = slices.Clone(values)
	}
	return c
}

// follow adds the newest figures of a server to their courses; a figure that is missing leaves a gap.
func (s *state) follow(url string, figures []progress.Figure) {
	courses := s.servers[url]
	if courses == nil {
		courses = serverCourses{}
		if s.servers == nil {
			s.servers = map[string]serverCourses{}
		}
		s.servers[url] = courses
	}
	for i := range serverRows {
		name := serverRows[i].name
		values, known := courses[name]
		if v := figureOf(figures, name); known || !math.IsNaN(v) {
			values.add(v)
			courses[name] = values
		}
	}
}

// figureOf returns a figure of a server, NaN where it is not known.
func figureOf(figures []progress.Figure, name string) float64 {
	for i := range figures {
		if figures[i].Name == name {
			return figures[i].Value
		}
	}
	return math.NaN()
}
