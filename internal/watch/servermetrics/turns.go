package servermetrics

import (
	"fmt"
	"math"
	"slices"
)

// An address may stand for several servers that answer in turn: a load balancer, an Ingress, a router that forwards
// /metrics. Growth from one of its pages to the next is that of nobody, and a gauge is that of one server.
//
// The start time of the process says so where a page has it: it is one again that it had been before another, which no
// restart brings about. Else the counters do: they fall and soon are where they had been, again and again, which a server
// that is restarted needs time for.
const (
	// comesBack is in how many pages the servers have had their turn.
	comesBack = 16
	// leastFalls is how often a counter falls where no start time says anything, at least leastFallers counters, in a
	// share of their changes of at least 1/changesPerFall: pages that overtake one another let them fall now and then.
	leastFalls     = 3
	leastFallers   = 2
	changesPerFall = 20
	// growersPerFaller: of the counters that grow at least one in so many falls. A metric that goes up and down may be
	// declared a counter by mistake.
	growersPerFaller = 4
	// clockStep is by how many seconds the start time of one process may vary: it is computed from the machine's clock.
	clockStep = 2
	// mostStarts bounds the start times that are told apart.
	mostStarts = 64
)

// startTime is the gauge of the start of the process, in seconds, that the client libraries of Prometheus have.
const startTime = "process_start_time_seconds"

// course follows one series from page to page.
type course struct {
	high    float64 // before the fall that it has not come back from
	fell    int32   // the page of that fall; 0 without one
	falls   int32   // that it came back from
	changes int32
	grew    bool
	before  float64 // on the page before the last one
}

// step takes the next value of a series that only grows while its server runs.
func (c *course) step(before, v float64, page int32) {
	if v == before {
		return
	}
	c.changes++
	c.grew = c.grew || v > before
	switch {
	case c.fell != 0 && page-c.fell > comesBack: // its server was restarted
		c.fell = 0
	case c.fell != 0 && v >= c.high:
		c.falls++
		c.fell = 0
		return
	}
	if v < before && c.fell == 0 {
		c.high, c.fell = before, page
	}
}

// starts follows the start time of a process from page to page.
type starts struct {
	seen    []float64 // in the order of their first page
	last    float64
	returns int // how often it was one again that it had been before another
}

func (s *starts) step(v float64) {
	switch {
	case len(s.seen) > 0 && v == s.last:
		return
	case slices.Contains(s.seen, v):
		s.returns++
	case len(s.seen) < mostStarts:
		s.seen = append(s.seen, v)
	}
	s.last = v
}

// follow takes the next value of a series on a page, before it is pushed.
func (s *Series) follow(page int32, row []float64) {
	switch {
	case s.Grows():
		last := len(row) - 1 // of a histogram the count
		if s.values.lastSlot >= 0 {
			s.course.before = s.values.last[last]
			s.course.step(s.values.last[last], row[last], page)
		} else if page == 0 {
			s.course.before = row[last]
		}
	case s.starts != nil:
		s.starts.step(row[0])
	case s.Family.Name == startTime:
		s.starts = &starts{}
		s.starts.step(row[0])
	}
}

// inTurn judges the courses of an endpoint's series.
func inTurn(of func(yield func(*course, *starts) bool)) (servers int, answered bool) {
	growers, fallers, frequent, returned, spread := 0, 0, 0, 0, 0.0
	for c, s := range of {
		if s != nil && s.returns > returned {
			returned, servers = s.returns, len(s.seen)
			spread = slices.Max(s.seen) - slices.Min(s.seen)
		}
		if c.grew {
			growers++
		}
		if c.falls > 0 {
			fallers++
		}
		if c.falls >= leastFalls && c.falls*changesPerFall >= c.changes {
			frequent++
		}
	}
	switch {
	case returned > 0 && (spread > clockStep || fallers > 0 && fallers*growersPerFaller >= growers):
		return servers, true
	case frequent >= leastFallers && frequent*growersPerFaller >= growers:
		return 0, true
	}
	return 0, false
}

// InTurn reports whether several servers answered at the endpoint's address in turn, and how many there were by their
// start times; 0 is not known. Then there are no statistics of its counters and histograms.
func (e *EndpointStore) InTurn() (servers int, answered bool) {
	if e.slotsByTime() == nil {
		return e.inTurnSoFar()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turns.pages == len(e.times) {
		return e.turns.servers, e.turns.answered
	}
	e.turns.pages = len(e.times)
	e.turns.servers, e.turns.answered = e.inTurnByTime()
	return e.turns.servers, e.turns.answered
}

// inTurnByTime is InTurn for pages of which some came late; the caller holds mu, and order is known.
func (e *EndpointStore) inTurnByTime() (servers int, answered bool) {
	return inTurn(func(yield func(*course, *starts) bool) {
		var samples Samples
		for _, s := range e.series {
			again := Series{Family: s.Family, values: newColumn(len(s.values.last))}
			s.readUnordered(&samples, everything, e.order)
			for i := samples.First(); i < samples.Len(); i++ {
				row := samples.rows[samples.at[i]:][:samples.width]
				again.follow(int32(i), row)
				copy(again.values.last, row)
				again.values.lastSlot = int32(i)
			}
			if !yield(&again.course, again.starts) {
				return
			}
		}
	})
}

// inTurnSoFar is InTurn for pages that came in order of time.
func (e *EndpointStore) inTurnSoFar() (servers int, answered bool) {
	return inTurn(func(yield func(*course, *starts) bool) {
		for _, s := range e.series {
			if !yield(&s.course, s.starts) {
				return
			}
		}
	})
}

// answeredInTurn says so of an endpoint; "" where it is one server's.
func (e *EndpointStore) answeredInTurn() string {
	n, answered := e.InTurn()
	switch {
	case !answered:
		return ""
	case n == 0:
		return "answered by several servers in turn"
	}
	return fmt.Sprintf("answered by %d servers in turn", n)
}

// NoTotals returns why there are no statistics of the counters and histograms of the endpoint; "" where there are.
func (e *EndpointStore) NoTotals() string {
	if how := e.answeredInTurn(); how != "" {
		return e.url + " is " + how + ": name the page of each with --server-metrics URL"
	}
	return ""
}

// mixed returns the endpoints that several servers answered in turn.
func (s *Store) mixed() map[*EndpointStore]bool {
	found := map[*EndpointStore]bool{}
	for _, e := range s.Endpoints() {
		_, found[e] = e.InTurn()
	}
	return found
}

// everything is the window of all samples.
var everything = Window{StartNS: math.MinInt64, EndNS: math.MaxInt64 - 1}
