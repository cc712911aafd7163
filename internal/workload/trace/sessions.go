package trace

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"aiperf/internal/base/random"
)

// sessionRow is a line of a generated trace.
type sessionRow struct {
	SessionID string  `json:"session_id"`
	Input     int     `json:"input_length"`
	Output    int     `json:"output_length"`
	IDs       []int64 `json:"hash_ids"`
	Timestamp *number `json:"timestamp,omitempty"`
	Delay     *tenth  `json:"delay,omitempty"`
	Group     *int    `json:"group_id,omitempty"`
	Restart   bool    `json:"is_restart,omitempty"`
	delayMS   float64 // before it was rounded
	agentic   bool    // the delay is that of a tool, not of a person
	context   int     // tokens of the whole request
}

// tenth is written with one decimal.
type tenth float64

// MarshalJSON implements json.Marshaler.
func (t tenth) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.1f", float64(t)), nil }

var _ json.Marshaler = tenth(0)

// session is a generated session and why it ended.
type session struct {
	rows   []sessionRow
	group  int
	layer2 int
	end    string
	next   int64 // the first id that the session has not used
}

// The ends of sessions.
const (
	endRetired = "forced_retire"
	endReset   = "reset"
	endTurns   = "turns"
)

// generator makes sessions. Session i depends on the seed and i alone.
type generator struct {
	SessionConfig
	seed random.Seed
	// weights are the cumulative ones of the groups.
	weights []float64
	layer1  int // blocks
}

func newGenerator(c SessionConfig, seed uint64) *generator {
	m := &generator{SessionConfig: c, seed: random.Root(seed), layer1: blocksOf(c.Cache.Layer1Tokens, c.BlockSize)}
	sum := 0.0
	for k := range c.Cache.Groups {
		sum += math.Pow(float64(k+1), -c.Cache.ZipfAlpha)
		m.weights = append(m.weights, sum)
	}
	if m.Generation.Min = max(m.Generation.Min, leastGeneration); m.Generation.Max > 0 {
		m.Generation.Min = min(m.Generation.Min, m.Generation.Max)
	}
	return m
}

// sessions makes n sessions, and the later parts of those that are restarted.
func (m *generator) sessions(n int) ([]session, error) {
	var all []session
	type later struct {
		at   int
		part session
	}
	var parts []later
	restarts := m.seed.Stream("trace.synthesize.restart")
	for i := range n {
		s, err := m.session(i)
		if err != nil {
			return nil, err
		}
		r := restarts.At(uint64(i))
		// The share of restarts falls to nothing over the first three quarters.
		p := m.RestartProbability * max(0, 1-float64(i)/(0.75*float64(n)))
		at := m.RestartTurns[0] + r.IntN(m.RestartTurns[1]-m.RestartTurns[0])
		if r.Float64() < p && at < len(s.rows) {
			place := i + max(1, int(math.Ceil(0.25*float64(n)))) + r.IntN(max(1, n/4))
			parts = append(parts, later{place, m.split(&s, at, i)})
		}
		all = append(all, s)
	}
	sort.SliceStable(parts, func(a, b int) bool { return parts[a].at > parts[b].at })
	for _, p := range parts { // from the end, so that places stay right
		at := min(p.at, len(all))
		all = append(all[:at], append([]session{p.part}, all[at:]...)...)
	}
	return all, nil
}

// split cuts a session: what follows turn at becomes one of its own that begins with the whole context.
func (m *generator) split(s *session, at, i int) session {
	first := s.rows[at]
	var ids []int64
	for _, row := range s.rows[:at+1] {
		ids = append(ids, row.IDs...)
	}
	zero, group := number(0), s.group
	part := session{group: s.group, layer2: s.layer2, end: s.end}
	id := m.id(i, "restart")
	for len(ids) < blocksOf(first.context, m.BlockSize) { // the answers, which no row has named
		ids = append(ids, s.next)
		s.next++
	}
	ids = ids[:blocksOf(first.context, m.BlockSize)]
	part.rows = append(part.rows, sessionRow{
		SessionID: id, Input: first.context, Output: first.Output, IDs: ids, Timestamp: &zero, Group: &group,
		Restart: true, context: first.context,
	})
	for _, row := range s.rows[at+1:] {
		row.SessionID = id
		part.rows = append(part.rows, row)
	}
	s.rows, s.end = s.rows[:at], "restart"
	return part
}

func (m *generator) id(i int, of string) string {
	r := m.seed.Stream("trace.synthesize.id." + of).At(uint64(i))
	n := r.Uint64()
	return "sess-" + hex.EncodeToString([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), byte(n >> 32),
		byte(n >> 40)})
}

// session makes session i. With a fixed number of turns it is tried again where the context fills up before.
func (m *generator) session(i int) (session, error) {
	if m.Turns == nil {
		return m.attempt(i, 0, 0), nil
	}
	var s session
	for attempt := range max(1, m.Turns.MaxAttempts) {
		r := m.seed.Stream("trace.synthesize.turns").At(uint64(i))
		want := max(1, int(math.Round(m.Turns.draw(&r))))
		if s = m.attempt(i, attempt, want); len(s.rows) == want {
			return s, nil
		}
	}
	if m.Turns.AllowTruncation {
		return s, nil
	}
	return s, fmt.Errorf("session %d does not reach its turns within max_prompt_tokens in %d attempts: "+
		"allow_truncation keeps it shorter", i, max(1, m.Turns.MaxAttempts))
}

// attempt draws session i: a context of shared layers and its own, then turns that each add the answer and new tokens,
// until the session resets, has its turns, or would outgrow the limit. Each attempt has draws of its own, so that a
// session can be drawn again without moving the others; its block ids come from a range of its own.
func (m *generator) attempt(i, attempt, turns int) session {
	r := m.seed.Stream(fmt.Sprintf("trace.synthesize.session.%d", attempt)).At(uint64(i))
	limit := m.MaxPromptTokens
	u := r.Float64() * m.weights[len(m.weights)-1]
	s := session{group: sort.SearchFloat64s(m.weights, u)}
	shared := m.Cache.Layer1Tokens + m.Cache.Layer15Tokens
	for range boundedTries {
		if s.layer2 = max(1, int(math.Round(m.Cache.Layer2.draw(&r)))); shared+s.layer2 < limit {
			break
		}
	}
	s.layer2 = min(s.layer2, limit-1-shared)
	context := shared + s.layer2
	next := int64(m.layer1) + maxGroups*groupBlocks + int64(i)*sessionBlocks
	last := next + sessionBlocks
	ids := m.shared(s.group, blocksOf(context, m.BlockSize), &next)
	zero, group, id := number(0), s.group, m.id(i, "session")
	output := m.output(&r)
	s.rows = append(s.rows, sessionRow{SessionID: id, Input: context, Output: output, IDs: ids, Timestamp: &zero,
		Group: &group, context: context})
	for {
		s.next = next
		if turns > 0 && len(s.rows) == turns {
			s.end = endTurns
			return s
		}
		p := m.Reset.BaseProbability * (1 + (m.Reset.ContextScaling-1)*float64(context)/float64(limit))
		if reset := r.Float64() < p; reset && turns == 0 {
			s.end = endReset
			return s
		}
		agentic := r.Float64() < m.Delay.AgenticFraction
		delays := m.Delay.Human
		if agentic {
			delays = m.Delay.Agentic
		}
		// A fuller context is worked on faster.
		delay := delays.draw(&r) * max(0.2, 1-0.8*float64(context)/float64(limit))
		fresh := max(1, int(math.Round(m.NewTokens.draw(&r))))
		blocks := blocksOf(fresh, m.BlockSize)
		if context+output+fresh >= limit || next+int64(blocks) > last {
			s.end = endRetired
			return s
		}
		context += output + fresh
		output = m.output(&r)
		ids := make([]int64, blocks)
		for k := range ids {
			ids[k] = next
			next++
		}
		shown := tenth(delay)
		s.rows = append(s.rows, sessionRow{SessionID: id, Input: fresh, Output: output, IDs: ids, Delay: &shown,
			delayMS: delay, agentic: agentic, context: context})
	}
}

func (m *generator) output(r *random.Rand) int { return max(1, int(math.Round(m.Generation.draw(r)))) }

// shared returns the ids of a first turn: the layer of all, that of the group, and the session's own.
func (m *generator) shared(group, n int, next *int64) []int64 {
	ids := make([]int64, 0, n)
	for k := range min(n, m.layer1) {
		ids = append(ids, int64(k))
	}
	for k := range min(n-len(ids), blocksOf(m.Cache.Layer15Tokens, m.BlockSize)) {
		ids = append(ids, int64(m.layer1)+int64(group)*groupBlocks+int64(k))
	}
	for len(ids) < n {
		ids = append(ids, *next)
		*next++
	}
	return ids
}
