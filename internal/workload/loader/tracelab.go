package loader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
)

const traceLab = "tracelab"

// traceLabKeys distinguish a round from the rows of other formats.
var traceLabKeys = []string{
	"session_id", "round_index", "input_tokens_total", "prefix_tokens", "newly_append_tokens", "timing_events",
}

// agentSession is one session of a recording: the rows with one id.
type agentSession struct {
	id, trace               string
	line                    int
	provider, user, project string
	rounds                  []agentRound
	// first and last are the earliest and the latest stamp of all events and tools.
	first, last time.Time
	// calls are the windows in which sub-agents ran.
	calls []agentCall
	codex agentCall
}

// agentRound is one request of a session.
type agentRound struct {
	line, index           int
	input, prefix, output int
	model                 string
	submitted             time.Time
	took                  time.Duration
	blocks                []int64
	at, think             time.Duration // since the first round of the trace, and since the end of the round before
}

// agentTraces makes conversations of recorded sessions of agents and those of their sub-agents.
type agentTraces struct{ *load }

// readTraceLab reads the rounds of coding agents as recordings, with the sub-agents that are recognised. Contents were
// not recorded: a prompt begins with the blocks of the round before as far as its recorded prefix goes, and goes on
// with blocks of its own.
func readTraceLab(from *load) error {
	l := agentTraces{from}
	sessions, err := l.sessions()
	if err != nil || l.mistaken > 0 {
		return err
	}
	timed := slices.DeleteFunc(sessions, func(s *agentSession) bool { return len(s.rounds) == 0 })
	traces := l.traces(timed)
	if err := l.name(traces); err != nil {
		return err
	}
	fresh := int64(1)
	for _, t := range traces {
		fresh = t.place(l.blockSize, fresh)
	}
	traces = l.choose(traces)
	requests, err := l.requests(traces)
	if err != nil || l.mistaken > 0 {
		return err
	}
	for i, t := range traces {
		l.play(t, requests[i])
	}
	if l.options.Scheduled {
		l.scheduleAll()
	}
	return nil
}

// sessions reads the rows, session by session in the order of the file.
func (l agentTraces) sessions() (sessions []*agentSession, err error) {
	byID := map[string]*agentSession{}
	anonymous, untimed := 0, 0
	err = l.eachLine(func(line []byte) {
		o, err := parseObject(line)
		if err != nil {
			l.errorf("%v", err)
			return
		}
		id, err := o.text("session_id")
		if err != nil {
			l.errorf("%v", err)
			return
		}
		if id == "" {
			if l.otherFormat(o) != "" {
				l.errorOf(o, errors.New(`field "session_id" is missing`))
				return
			}
			anonymous++
			l.skip(l.line)
			return
		}
		s := byID[id]
		if s == nil {
			s = &agentSession{id: id, line: l.line}
			byID[id] = s
			sessions = append(sessions, s)
			err = s.identity(o)
		}
		round, timed := agentRound{line: l.line}, false
		if err == nil {
			timed, err = s.read(o, &round, &l.options.TraceLab)
		}
		switch {
		case err != nil:
			l.errorOf(o, err)
		case timed:
			s.rounds = append(s.rounds, round)
		default:
			untimed++
		}
	})
	if anonymous > 0 {
		l.notef("%d rows without session_id left out", anonymous)
	}
	if untimed > 0 {
		l.notef("%d rounds without a time left out", untimed)
	}
	return sessions, err
}

// identity reads whose session it is, from its first row.
func (s *agentSession) identity(o *object) (err error) {
	for key, to := range map[string]*string{"provider": &s.provider, "user": &s.user, "project": &s.project} {
		if *to, err = o.text(key); err != nil {
			return err
		}
	}
	return nil
}

// read reads a row of the session; timed reports whether the round has a time.
func (s *agentSession) read(o *object, r *agentRound, options *recipe.TraceLab) (timed bool, err error) {
	reasoning := 0
	for _, field := range []struct {
		key string
		to  *int
	}{
		{"round_index", &r.index}, {"input_tokens_total", &r.input}, {"prefix_tokens", &r.prefix},
		{"output_tokens", &r.output}, {"reasoning_output_tokens", &reasoning},
	} {
		n, err := o.integer(field.key, 0)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return false, o.wrong(field.key, "a whole number of at least 0")
		}
		*field.to = int(n)
	}
	if !o.has("input_tokens_total") {
		return false, errors.New(`field "input_tokens_total" is missing`)
	}
	r.input, r.output = max(1, r.input), max(1, r.output+reasoning)
	if r.model, err = o.text("model"); err != nil {
		return false, err
	}
	if timed, err = s.events(o, r); err != nil {
		return false, err
	}
	return timed, s.tools(o, options)
}

// covers extends the span of the session to an instant.
func (s *agentSession) covers(at time.Time) {
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// events reads when a round was submitted and how long it took: from its last input, or else its first output, to its
// last output.
func (s *agentSession) events(o *object, r *agentRound) (timed bool, err error) {
	var events []struct {
		Type string `json:"event_type"`
		Time string `json:"timestamp"`
	}
	if o.has("timing_events") && json.Unmarshal(o.members["timing_events"], &events) != nil {
		return false, o.wrong("timing_events", "a list of events with event_type and timestamp")
	}
	var input, begun, done time.Time
	for _, e := range events {
		if e.Time == "" {
			continue
		}
		at, err := scalar.Instant(e.Time)
		if err != nil {
			return false, fmt.Errorf(`field "timing_events": %w`, err)
		}
		s.covers(at)
		switch e.Type {
		case "user_message", "tool_result":
			input = later(input, at)
		case "text", "reasoning", "tool_call":
			if begun.IsZero() || at.Before(begun) {
				begun = at
			}
			done = later(done, at)
		}
	}
	if r.submitted = input; input.IsZero() {
		r.submitted = begun
	}
	if !done.IsZero() {
		r.took = max(0, done.Sub(r.submitted))
	}
	return !r.submitted.IsZero(), nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// unsafeName is what a trace's id does not have; longestName is its length.
var unsafeName = pattern.New(`[^A-Za-z0-9._-]+`)

const longestName = 150

// name gives traces and sub-agents the ids of their sessions, in letters that a file name may have.
func (l agentTraces) name(traces []*agentTrace) error {
	of := map[string]string{}
	for _, t := range traces {
		for _, s := range append([]*agentSession{t.session}, t.agents...) {
			s.trace = unsafeName.ReplaceAllString(s.id, "_")
			s.trace = s.trace[:min(len(s.trace), longestName)]
			if other, twice := of[s.trace]; twice {
				return fmt.Errorf("%s:%d: the sessions %q and %q are both called %q: rename one of them",
					l.path, s.line, shorten(other), shorten(s.id), s.trace)
			}
			of[s.trace] = s.id
		}
	}
	return nil
}

// place gives the rounds of a trace their times and blocks, from a number of blocks on, and returns the next one.
func (t *agentTrace) place(blockSize int, fresh int64) int64 {
	start := t.session.rounds[0].submitted
	for _, s := range append([]*agentSession{t.session}, t.agents...) {
		var chain []int64
		var end time.Duration
		for i := range s.rounds {
			r := &s.rounds[i]
			total := r.input / blockSize
			kept := min(min(r.prefix, r.input)/blockSize, len(chain), total)
			r.blocks = slices.Clone(chain[:kept])
			for len(r.blocks) < total {
				r.blocks = append(r.blocks, fresh)
				fresh++
			}
			chain = r.blocks
			if r.at = r.submitted.Sub(start); i > 0 {
				r.think = max(0, r.at-end)
			}
			end = r.at + r.took
		}
	}
	return fresh
}

// choose leaves out what is longer than the longest context, and then what is beyond the number of recordings.
func (l agentTraces) choose(traces []*agentTrace) []*agentTrace {
	if limit := l.options.MaxContext; limit > 0 {
		traces = slices.DeleteFunc(traces, func(t *agentTrace) bool {
			for _, s := range append([]*agentSession{t.session}, t.agents...) {
				for _, r := range s.rounds {
					if r.input+r.output > limit {
						l.dropped.contexts++
						return true
					}
				}
			}
			return false
		})
	}
	if n := l.options.Entries; n > 0 && len(traces) > n {
		traces = traces[:n]
	}
	return traces
}

// requests returns the requests of the traces, session by session, after the filters and multipliers of rows.
func (l agentTraces) requests(traces []*agentTrace) ([]map[*agentSession][]recordedRequest, error) {
	type request struct {
		row
		session *agentSession
		round   *agentRound
	}
	var kept []*request
	var prompts []*prompt
	for i, t := range traces {
		for _, s := range append([]*agentSession{t.session}, t.agents...) {
			for j := range s.rounds {
				r := &s.rounds[j]
				at, limit := inMilliseconds(r.at), r.output
				q := &request{row: row{line: r.line, prompt: prompt{tokens: r.input, ids: r.blocks, session: i}}}
				q.session, q.round = s, r
				q.turn = dataset.Turn{TimestampMS: &at, MaxTokens: &limit}
				l.line = r.line
				if l.admit(&q.row); q.absent {
					continue
				}
				if !l.options.Window.Holds(at) {
					l.dropped.outside++
					continue
				}
				kept, prompts = append(kept, q), append(prompts, &q.prompt)
			}
		}
	}
	if err := l.options.Reshape.prompts(prompts, l.blockSize, l.options.Seed); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	requests := make([]map[*agentSession][]recordedRequest, len(traces))
	for _, q := range kept {
		trace := &requests[q.prompt.session]
		if *trace == nil {
			*trace = map[*agentSession][]recordedRequest{}
		}
		l.options.Reshape.scaleTurn(&q.turn)
		at, scale := *q.turn.TimestampMS/1000, l.options.Reshape.pace()
		(*trace)[q.session] = append((*trace)[q.session], recordedRequest{
			at: at, end: at + q.round.took.Seconds()/scale, think: q.round.think.Seconds() / scale,
			model: q.round.model,
			in:    q.tokens, out: *q.turn.MaxTokens, ids: q.ids, row: uint64(q.line),
		})
	}
	return requests, nil
}

// inMilliseconds returns a duration with its fraction.
func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// play makes conversations of a trace.
func (l agentTraces) play(t *agentTrace, requests map[*agentSession][]recordedRequest) {
	var agents []recordedAgent
	scale := l.options.Reshape.pace()
	for i, s := range t.agents {
		at := t.called[i].Sub(t.session.rounds[0].submitted).Seconds() / scale
		agents = append(agents, recordedAgent{id: s.trace, at: at, requests: requests[s]})
	}
	main := requests[t.session]
	countPrefixes(main, agents)
	l.line = t.session.line
	tree := newTree(l.load)
	if !l.options.Scheduled {
		if len(requests) > 0 {
			tree.root(t.session.trace, main, agents)
		}
		return
	}
	if len(main) > 0 {
		tree.play(t.session.trace, main)
	}
	for i := range agents {
		if len(agents[i].requests) > 0 {
			tree.play(t.session.trace+"::sa:"+agents[i].id, agents[i].requests)
		}
	}
}

// scheduleAll makes every conversation begin at its recorded time: none waits for another one.
func (l agentTraces) scheduleAll() {
	for i := range l.conversations {
		for j := range l.conversations[i].Turns {
			l.conversations[i].Turns[j].Branches, l.conversations[i].Turns[j].DelayMS = nil, nil
		}
	}
}

// isTraceLab reports whether a row is a round.
func isTraceLab(o *object) bool { return o.hasAll(traceLabKeys...) }

// inOrder sorts the rounds of a session by their times.
func (s *agentSession) inOrder() {
	slices.SortStableFunc(s.rounds, func(a, b agentRound) int {
		return cmp.Or(a.submitted.Compare(b.submitted), cmp.Compare(a.index, b.index))
	})
}
