package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"aiperf/internal/measure/recordfile"
)

// ownLanes is the number of sessions up to which each has a lane of its own. More of them share lanes: one begins in
// the first lane that is free.
const ownLanes = 100

// Swimlane is the content of the picture and of the page.
type Swimlane struct {
	Title string
	// Lanes is their number, Sessions those that take part.
	Lanes    int
	Sessions []Session
	Bars     []Bar
	// EndNS is the end of the last request.
	EndNS int64
	// Requests are the requests in flight, Active the sessions that had begun and not ended, as steps.
	Requests, Active []Step
	// PeakRequests and PeakActive are their largest values.
	PeakRequests, PeakActive int
	// Concurrency is the reference line, 0 for none; RampNS when the ramp was over, 0 for none.
	Concurrency float64
	RampNS      int64
}

// Session is a running conversation.
type Session struct {
	ID, Conversation string
	Lane, Depth      int
	StartNS, EndNS   int64
	root             string
}

// Bar is a request. FirstNS is the time of its first token, 0 if it is not known.
type Bar struct {
	Session                 int
	StartNS, FirstNS, EndNS int64
	Turn                    int
	InputTokens             *float64
	OutputTokens            *float64
	State                   State
	Failure                 string
}

// State is how a request ended.
type State uint8

// The states.
const (
	Succeeded State = iota
	Failed
	Cancelled
)

// Step is a value that holds from a time on.
type Step struct {
	AtNS  int64
	Value int
}

// ErrNoRequests reports that there is nothing to draw.
var ErrNoRequests = errors.New("it holds no request of the profiling phase")

// ReadSwimlane makes a chart from a per-request file, without the requests of a warm-up.
func ReadSwimlane(path, title string) (*Swimlane, error) {
	c := &Swimlane{Title: title}
	index := map[string]int{}
	first := int64(0)
	err := recordfile.ReadRequests(path, func(r *recordfile.Request) {
		if r.Phase == "warmup" || r.EndNS < r.StartNS {
			return
		}
		if len(c.Bars) == 0 || r.StartNS < first {
			first = r.StartNS
		}
		k, known := index[r.Session()]
		if !known {
			k = len(c.Sessions)
			index[r.Session()] = k
			c.Sessions = append(c.Sessions, Session{
				ID: r.Session(), Conversation: r.ConversationID, Depth: r.AgentDepth,
				root: cmp.Or(r.RootCorrelationID, r.Session()), StartNS: r.StartNS, EndNS: r.EndNS,
			})
		}
		s := &c.Sessions[k]
		s.StartNS, s.EndNS = min(s.StartNS, r.StartNS), max(s.EndNS, r.EndNS)
		b := Bar{
			Session: k, StartNS: r.StartNS, EndNS: r.EndNS, Turn: r.TurnIndex, Failure: r.Failure(),
			InputTokens: r.Number("input_sequence_length"), OutputTokens: r.Number("output_sequence_length"),
		}
		switch {
		case r.WasCancelled:
			b.State = Cancelled
		case r.Err != nil:
			b.State = Failed
		}
		if ms := r.Number("time_to_first_token"); ms != nil {
			b.FirstNS = r.StartNS + int64(min(max(*ms*1e6, 0), float64(r.EndNS-r.StartNS)))
		}
		c.Bars = append(c.Bars, b)
	})
	if err != nil {
		return nil, err
	}
	if len(c.Bars) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoRequests)
	}
	c.settle(first)
	return c, nil
}

// settle counts time from the first request and gives sessions their order and lanes.
func (c *Swimlane) settle(first int64) {
	starts := map[string]int64{} // of trees
	for i := range c.Sessions {
		s := &c.Sessions[i]
		s.StartNS, s.EndNS = s.StartNS-first, s.EndNS-first
		if at, ok := starts[s.root]; !ok || s.StartNS < at {
			starts[s.root] = s.StartNS
		}
		c.EndNS = max(c.EndNS, s.EndNS)
	}
	order := make([]int, len(c.Sessions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &c.Sessions[a], &c.Sessions[b]
		if x.root == y.root {
			return cmp.Or(cmp.Compare(x.Depth, y.Depth), cmp.Compare(x.StartNS, y.StartNS), cmp.Compare(x.ID, y.ID))
		}
		return cmp.Or(cmp.Compare(starts[x.root], starts[y.root]), cmp.Compare(x.root, y.root))
	})
	place, sorted := make([]int, len(order)), make([]Session, len(order))
	for at, i := range order {
		place[i], sorted[at] = at, c.Sessions[i]
	}
	c.Sessions = sorted
	for i := range c.Bars {
		b := &c.Bars[i]
		b.Session = place[b.Session]
		b.StartNS, b.EndNS = b.StartNS-first, b.EndNS-first
		if b.FirstNS != 0 {
			b.FirstNS -= first
		}
	}
	slices.SortStableFunc(c.Bars, func(a, b Bar) int { return cmp.Compare(a.StartNS, b.StartNS) })
	c.assignLanes()
	var requests, active []span
	for i := range c.Bars {
		requests = append(requests, span{c.Bars[i].StartNS, c.Bars[i].EndNS})
	}
	for i := range c.Sessions {
		active = append(active, span{c.Sessions[i].StartNS, c.Sessions[i].EndNS})
	}
	c.Requests, c.PeakRequests = steps(requests)
	c.Active, c.PeakActive = steps(active)
}

// assignLanes gives each session a lane of its own, or the first one that is free if there are many.
func (c *Swimlane) assignLanes() {
	if len(c.Sessions) <= ownLanes {
		for i := range c.Sessions {
			c.Sessions[i].Lane = i
		}
		c.Lanes = len(c.Sessions)
		return
	}
	order := make([]int, len(c.Sessions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a,
		b int) int {
		return cmp.Compare(c.Sessions[a].StartNS, c.Sessions[b].StartNS)
	})
	var free laneHeap
	var busy endHeap
	for _, i := range order {
		s := &c.Sessions[i]
		for busy.Len() > 0 && busy.first().end <= s.StartNS {
			free.push(busy.pop().lane)
		}
		if free.Len() > 0 {
			s.Lane = free.pop()
		} else {
			s.Lane = c.Lanes
			c.Lanes++
		}
		busy.push(busyLane{s.EndNS, s.Lane})
	}
}

// span is an interval of time.
type span struct{ start, end int64 }

// steps counts how many spans are open over time. Ends at a time count before beginnings at the same time.
func steps(spans []span) (out []Step, peak int) {
	type change struct {
		at    int64
		delta int
	}
	changes := make([]change, 0, 2*len(spans))
	for _, s := range spans {
		changes = append(changes, change{s.start, 1}, change{s.end, -1})
	}
	slices.SortFunc(changes, func(a,
		b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
	})
	n := 0
	for i, c := range changes {
		n += c.delta
		peak = max(peak, n)
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Value != n {
			out = append(out, Step{c.at, n})
		}
	}
	return out, peak
}
