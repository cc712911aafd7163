package loader

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
)

// The draws that make users of recorded ones.
const (
	usersStream  = "dataset.recording.users"
	copiesStream = "dataset.recording.arrivals"
)

// leastSpread is the part of a recording within which a copy of a session begins around the session itself.
const leastSpread = 0.02

// maxCopies bounds the sessions that are made.
const maxCopies = 10_000_000

// multiply plays the recorded sessions for several times as many users. Each copy of a session begins at another time
// near it, and has blocks of its own wherever the session has: what several sessions share, their copies share too. Of a
// fraction, so many sessions are drawn.
func (l *load) multiply(all dataset.Memory) (dataset.Memory, error) {
	n, k := len(all), l.options.Users
	if l.roots != nil || all.Branches() {
		return nil, fmt.Errorf("%s: --users cannot be used with sessions that branch", l.path)
	}
	whole := int(k)
	part := int(math.Round((k - float64(whole)) * float64(n)))
	if total := float64(n) * k; total > maxCopies {
		return nil, fmt.Errorf("%s: --users %v makes %.0f sessions of %d, and the limit is %d", l.path, k, total, n,
			maxCopies)
	}
	if whole == 0 && part == 0 {
		part = 1
	}
	m := newMultiplier(all, l.options.Seed)
	out := make(dataset.Memory, 0, n*whole+part)
	for c := range whole {
		for i := range all {
			out = append(out, m.copyOf(i, c))
		}
	}
	for _, i := range m.draw(part) {
		out = append(out, m.copyOf(i, whole))
	}
	if m.timed {
		slices.SortStableFunc(out, func(a, b dataset.Conversation) int {
			return cmp.Compare(*a.Turns[0].TimestampMS, *b.Turns[0].TimestampMS)
		})
	}
	m.recount(out)
	l.notef("--users %v: %d sessions are played of %d recorded ones", k, len(out), n)
	if m.given && whole > 0 && len(out) > n {
		l.warnings = append(l.warnings, "copies of sessions whose texts are given send the same texts, which a prefix cache "+
			"knows then; --cache-bust first_turn_prefix marks them")
	}
	return out, nil
}

// multiplier makes copies of sessions.
type multiplier struct {
	all             dataset.Memory
	users, arrivals random.Stream
	// timed reports that all sessions have a first time; first and last are the earliest and the latest, spread is how
	// far a copy is moved.
	timed               bool
	first, last, spread float64
	// shared are the blocks of several sessions.
	shared map[int64]bool
	// given reports that some texts are not made of lengths.
	given bool
}

func newMultiplier(all dataset.Memory, seed random.Seed) *multiplier {
	m := &multiplier{all: all, users: seed.Stream(usersStream), arrivals: seed.Stream(copiesStream), timed: true,
		first: math.Inf(1), last: math.Inf(-1), shared: map[int64]bool{}}
	owner := map[int64]int{}
	for i := range all {
		turns := all[i].Turns
		if len(turns) == 0 || turns[0].TimestampMS == nil {
			m.timed = false
		} else {
			m.first, m.last = min(m.first, *turns[0].TimestampMS), max(m.last, *turns[0].TimestampMS)
		}
		for k := range turns {
			p := turns[k].Prompt
			if p == nil {
				m.given = true
				continue
			}
			for _, id := range p.Blocks {
				if of, met := owner[id]; met && of != i {
					m.shared[id] = true
				}
				owner[id] = i
			}
		}
	}
	if m.timed && len(all) > 1 {
		span := m.last - m.first
		m.spread = max(span/float64(len(all)-1), leastSpread*span)
	}
	return m
}

// draw returns so many sessions, in their order.
func (m *multiplier) draw(n int) []int {
	order := make([]int, len(m.all))
	keys := make([]float64, len(m.all))
	for i := range order {
		r := m.users.At(uint64(i))
		order[i], keys[i] = i, r.Float64()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	order = order[:min(n, len(order))]
	slices.Sort(order)
	return order
}

// copyOf returns a copy of a session; copy 0 is the session itself.
func (m *multiplier) copyOf(i, copied int) dataset.Conversation {
	c := m.all[i]
	if copied == 0 {
		return c
	}
	if c.SessionID != "" {
		c.SessionID = fmt.Sprintf("%s.%d", c.SessionID, copied+1)
	}
	shift := 0.0
	if m.timed && len(c.Turns) > 0 {
		r := m.arrivals.At(uint64(copied-1)*uint64(len(m.all)) + uint64(i))
		at := *c.Turns[0].TimestampMS
		shift = m.within(at+(2*r.Float64()-1)*m.spread) - at
	}
	turns := slices.Clone(c.Turns)
	scope := scoped(math.MinInt64, int64(copied))
	for k := len(turns) - 1; k >= 0; k-- {
		t := &turns[k]
		if t.TimestampMS != nil {
			t.TimestampMS = new(*t.TimestampMS + shift)
		}
		if t.Recorded != nil {
			of := *t.Recorded
			of.AtMS += shift
			t.Recorded = &of
		}
		if t.Prompt == nil {
			continue
		}
		p := *t.Prompt
		p.Row = uint64(scoped(scope, int64(p.Row)))
		if k+1 < len(turns) && beginsWith(m.all[i].Turns[k+1].Prompt, t.Prompt) {
			p.Blocks = turns[k+1].Prompt.Blocks[:len(p.Blocks):len(p.Blocks)]
		} else {
			p.Blocks = m.renamed(p.Blocks, scope)
		}
		t.Prompt = &p
	}
	c.Turns = turns
	return c
}

// beginsWith reports whether the blocks of a prompt are the first of those of a longer one, in one place.
func beginsWith(longer, p *dataset.Prompt) bool {
	return longer != nil && len(p.Blocks) > 0 && len(longer.Blocks) >= len(p.Blocks) && &longer.Blocks[0] == &p.Blocks[0]
}

// renamed are the blocks of a copy: those that only one session has get other ids.
func (m *multiplier) renamed(ids []int64, scope int64) []int64 {
	out := slices.Clone(ids)
	for i, id := range ids {
		if !m.shared[id] {
			out[i] = scoped(scope, id)
		}
	}
	return out
}

// within reflects an instant at the ends of the recording.
func (m *multiplier) within(at float64) float64 {
	if at < m.first {
		at = 2*m.first - at
	}
	if at > m.last {
		at = 2*m.last - at
	}
	return max(m.first, at)
}

// recount counts the known blocks of all prompts again, in the order in which they come; where that is not known,
// nothing is.
func (m *multiplier) recount(all dataset.Memory) {
	var turns []*dataset.Turn
	ordered := true
	for i := range all {
		for k := range all[i].Turns {
			t := &all[i].Turns[k]
			if t.Prefix == nil {
				continue
			}
			turns = append(turns, t)
			ordered = ordered && t.Recorded != nil
		}
	}
	if ordered {
		slices.SortStableFunc(turns, func(a, b *dataset.Turn) int { return cmp.Compare(a.Recorded.AtMS, b.Recorded.AtMS) })
	}
	var sent PrefixCache
	for _, t := range turns {
		if ordered {
			t.Prefix = sent.Take(t.Prompt.Blocks[:t.Prefix.Blocks])
		} else {
			t.Prefix = nil
		}
	}
}
