package servermetrics

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/watch/prom"
)

// A server may be scraped under two addresses, such as localhost and 127.0.0.1. A sum over servers counts it once.
//
// Two pages are of one process if they have the same start time and the same series of a known server, and no counter
// contradicts it. Without start times that is likely only: both count, and a warning says so.

// identity is what tells the page of one process from that of another.
type identity struct {
	start   float64
	started bool // there is a start time
	grew    bool
	// between are, by series, what a counter was on the last two pages; of a gauge both are 0.
	between map[string][2]float64
}

// startOf returns the start time of the process on the last page of an endpoint.
func (e *EndpointStore) startOf() (v float64, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.series {
		if s.starts != nil {
			return s.starts.last, true
		}
	}
	return 0, false
}

// identity returns that of an endpoint; without series where the page is of no known server, or of several in turn. It
// may be called during the collection.
func (e *EndpointStore) identity() identity {
	start, started := e.startOf()
	id := identity{start: start, started: started, between: map[string][2]float64{}}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, answered := e.inTurnSoFar(); answered {
		return id
	}
	for key, s := range e.byKey {
		if s.Family.Type == prom.Summary || !ofBackend(s.Family.Name) {
			continue
		}
		var between [2]float64
		if last := len(s.values.last) - 1; s.Grows() && s.values.lastSlot >= 0 {
			between = [2]float64{s.course.before, s.values.last[last]}
			id.grew = id.grew || s.course.grew
		}
		id.between[key] = between
	}
	return id
}

// matches reports whether two pages may be those of one process: they have the same series, and of each counter what it
// was on the last two pages of both overlaps.
func (id *identity) matches(o *identity) bool {
	if len(id.between) == 0 || len(id.between) != len(o.between) {
		return false
	}
	for key, a := range id.between {
		b, has := o.between[key]
		if !has || max(a[0], b[0]) > min(a[1], b[1]) {
			return false
		}
	}
	return true
}

// ofBackend reports whether a metric is one of a known server.
func ofBackend(name string) bool {
	for i := range backends {
		if slices.ContainsFunc(backends[i].prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return true
		}
	}
	return false
}

// again returns the endpoints whose page is that of an earlier endpoint, with the earlier one. It may be called during
// the collection.
func (s *Store) again() map[*EndpointStore]*EndpointStore {
	list := s.Endpoints()
	found := map[*EndpointStore]*EndpointStore{}
	for i, e := range list {
		start, started := e.startOf()
		for _, earlier := range list[:i] {
			if v, has := earlier.startOf(); !started || !has || v != start || found[earlier] != nil {
				continue
			}
			if a, b := earlier.identity(), e.identity(); a.matches(&b) {
				found[e] = earlier
				break
			}
		}
	}
	return found
}

// samePages says which addresses have one page, and which may have.
func (s *Store) samePages() (notes []string) {
	list, again := s.Endpoints(), s.again()
	for i, e := range list {
		if earlier := again[e]; earlier != nil {
			notes = append(notes, fmt.Sprintf("Server metrics: %s is the page of %s, by its start time and its series: sums "+
				"over servers count it once", e.url, earlier.url))
			continue
		}
		b := e.identity()
		for _, earlier := range list[:i] {
			a := earlier.identity()
			if !a.started && !b.started && a.grew && b.grew && a.matches(&b) {
				notes = append(notes, fmt.Sprintf("Server metrics: %s and %s have the same series with the same values and may "+
					"be one server; sums over servers count both. If they are one, name one of them with --server-metrics",
					earlier.url, e.url))
				break
			}
		}
	}
	return notes
}
