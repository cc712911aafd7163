package library

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/recordfile"
)

// Query asks for requests. The zero value asks for all of them in the order of the file.
type Query struct {
	// Text is the number of a request, or the id of a request, a session or a conversation; "" for all.
	Text string
	// Failed asks for failures only, Error for those whose type or message contains a text, in any case.
	Failed bool
	Error  string
	// Ranges and Times ask for requests that lie within all of them.
	Ranges []Range
	Times  []TimeRange
	// Sort is one of [Tags], start, or "" for the order of the file; Down asks for the largest first. Requests without
	// a value are left out.
	Sort string
	Down bool
	// From is how many are skipped, Limit how many are returned at most.
	From, Limit int
}

// Range is that of a metric of [Tags], in its display unit: from Low up to but not including High. A request without a
// value lies in none.
type Range struct {
	Tag       string
	Low, High float64
}

// TimeKind says which instant of a request a [TimeRange] is about.
type TimeKind string

// The kinds: when requests were sent, when they ended, and whether any of their time lies in the range.
const (
	Sent     TimeKind = "sent"
	Ended    TimeKind = "ended"
	InFlight TimeKind = "in_flight"
)

// TimeKinds are all kinds.
var TimeKinds = []TimeKind{Sent, Ended, InFlight}

// TimeRange is an interval of the wall clock, in ns: from FromNS up to but not including ToNS.
type TimeRange struct {
	Kind         TimeKind
	FromNS, ToNS int64
}

// MaxSorted bounds From+Limit of a sorted query.
const MaxSorted = 10_000

// Match is a request that a query found.
type Match struct {
	// Place is its place in the index, Number that of its line, as far as no line before it is damaged.
	Place int
	*recordfile.Request
}

// QueryAnswer is what a query found.
type QueryAnswer struct {
	// Total is the number of all requests that match; Matches are those of the page.
	Total   int
	Matches []Match
}

// Find answers a query.
func (x *RequestIndex) Find(q Query) (*QueryAnswer, error) {
	q.From, q.Limit = max(0, q.From), max(0, q.Limit)
	fits, err := x.filter(&q)
	if err != nil {
		return nil, err
	}
	var total int
	var at []int
	if q.Sort == "" {
		at, total = x.page(&q, fits)
	} else if at, total, err = x.sorted(&q, fits); err != nil {
		return nil, err
	}
	a := &QueryAnswer{Total: total}
	lines, err := x.lines(at)
	if err != nil {
		return nil, err
	}
	for k, line := range lines {
		r, err := recordfile.ParseRequest(line)
		if err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", x.path, at[k]+1, err)
		}
		a.Matches = append(a.Matches, Match{at[k], r})
	}
	return a, nil
}

// filter returns what the query lets through.
func (x *RequestIndex) filter(q *Query) (func(i int) bool, error) {
	var tests []func(i int) bool
	if text := strings.TrimSpace(q.Text); text != "" {
		number, h := -1, HashName(text)
		if n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimPrefix(text, "#"), ",", "")); err == nil {
			number = n - 1
		}
		tests = append(tests, func(i int) bool {
			return i == number || x.ids[i] == h || x.sessions[i] == h || x.conversations[i] == h
		})
	}
	if q.Failed {
		tests = append(tests, func(i int) bool { return x.flags[i]&Failed != 0 })
	}
	if part := strings.ToLower(strings.TrimSpace(q.Error)); part != "" {
		wanted := make([]bool, len(x.Kinds)+1)
		for k, kind := range x.Kinds {
			wanted[k+1] = strings.Contains(strings.ToLower(kind.Type+" "+kind.Message), part)
		}
		tests = append(tests, func(i int) bool { return wanted[x.kinds[i]] })
	}
	for _, r := range q.Ranges {
		if !slices.Contains(Tags, r.Tag) {
			return nil, fmt.Errorf("requests have no range of %.60q", r.Tag)
		}
		value := x.column(r.Tag)
		tests = append(tests, func(i int) bool { v := value(i); return v >= r.Low && v < r.High })
	}
	for _, r := range q.Times {
		if !slices.Contains(TimeKinds, r.Kind) {
			return nil, fmt.Errorf("requests have no time %.60q", r.Kind)
		}
		tests = append(tests, x.during(r))
	}
	switch len(tests) {
	case 0:
		return nil, nil
	case 1:
		return tests[0], nil
	}
	return func(i int) bool {
		for _, t := range tests {
			if !t(i) {
				return false
			}
		}
		return true
	}, nil
}

// during reports of a request whether it lies in an interval.
func (x *RequestIndex) during(r TimeRange) func(i int) bool {
	duration := x.duration()
	return func(i int) bool {
		sent := x.starts[i]
		if sent <= 0 {
			return false
		}
		ended := sent + int64(duration(i)*1e9)
		switch r.Kind {
		case Sent:
			return sent >= r.FromNS && sent < r.ToNS
		case Ended:
			return ended >= r.FromNS && ended < r.ToNS
		default:
			return sent < r.ToNS && ended >= r.FromNS
		}
	}
}

// page returns the places of a page in the order of the file.
func (x *RequestIndex) page(q *Query, fits func(int) bool) (at []int, total int) {
	if fits == nil {
		for i := q.From; i < min(len(x.offsets), q.From+q.Limit); i++ {
			at = append(at, i)
		}
		if q.Down {
			at = nil
			for i := len(x.offsets) - 1 - q.From; i >= 0 && len(at) < q.Limit; i-- {
				at = append(at, i)
			}
		}
		return at, len(x.offsets)
	}
	for i := range x.offsets {
		if !fits(i) {
			continue
		}
		if total >= q.From && len(at) < q.Limit {
			at = append(at, i)
		}
		total++
	}
	return at, total
}

// key returns the value that a query sorts by.
func (x *RequestIndex) key(tag string) (func(i int) float64, error) {
	if tag == "start" {
		return func(i int) float64 { return float64(x.starts[i]) }, nil
	}
	k := slices.Index(Tags, tag)
	if k < 0 {
		return nil, fmt.Errorf("requests cannot be sorted by %.60q", tag)
	}
	column := x.values[k]
	if column == nil {
		return func(int) float64 { return math.NaN() }, nil
	}
	return func(i int) float64 { return float64(column[i]) }, nil
}

// sorted returns the places of a page of a sorted query: the first ones in a heap, whose top is the last of them.
func (x *RequestIndex) sorted(q *Query, fits func(int) bool) (at []int, total int, err error) {
	key, err := x.key(q.Sort)
	if err != nil {
		return nil, 0, err
	}
	most := q.From + q.Limit
	if most > MaxSorted {
		return nil, 0, fmt.Errorf("only the first %d of a sorted list can be shown: narrow the search", MaxSorted)
	}
	h := &first{down: q.Down}
	for i := range x.offsets {
		if fits != nil && !fits(i) {
			continue
		}
		v := key(i)
		if v != v {
			continue
		}
		total++
		switch {
		case len(h.list) < most:
			heap.Push(h, keyed{v, i})
		case most > 0 && h.before(keyed{v, i}, h.list[0]):
			h.list[0] = keyed{v, i}
			heap.Fix(h, 0)
		}
	}
	slices.SortFunc(h.list, func(a, b keyed) int {
		if h.before(a, b) {
			return -1
		}
		return 1
	})
	for _, e := range h.list[min(q.From, len(h.list)):] {
		at = append(at, e.place)
	}
	return at, total, nil
}

// keyed is a request with what it is sorted by.
type keyed struct {
	key   float64
	place int
}

// first are the first requests of an order, the last of them on top of a heap.
type first struct {
	list []keyed
	down bool
}

// before reports whether a comes before b; equal ones are in the order of the file.
func (h *first) before(a, b keyed) bool {
	order := cmp.Compare(a.key, b.key)
	if h.down {
		order = -order
	}
	return order < 0 || order == 0 && a.place < b.place
}

// Len implements [heap.Interface].
func (h *first) Len() int { return len(h.list) }

// Less implements [heap.Interface].
func (h *first) Less(i, j int) bool { return h.before(h.list[j], h.list[i]) }

// Swap implements [heap.Interface].
func (h *first) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push implements [heap.Interface].
func (h *first) Push(v any) { h.list = append(h.list, v.(keyed)) }

// Pop implements [heap.Interface].
func (h *first) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}
