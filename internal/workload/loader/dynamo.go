package loader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"aiperf/internal/base/jsonscan"
)

const (
	dynamoTrace = "dynamo_trace"
	// dynamoSchema names the records of Dynamo's request trace.
	dynamoSchema = "dynamo.request.trace.v1"
)

// dynamoRecord is what a record says that is replayed; there are others, of tools and payloads.
type dynamoRecord struct {
	Schema  string `json:"schema"`
	Event   string `json:"event_type"`
	EndedMS int64  `json:"event_time_unix_ms"`
	Context *struct {
		Session string `json:"session_id"`
		Parent  string `json:"parent_session_id"`
	} `json:"agent_context"`
	Request *struct {
		ID         string  `json:"request_id"`
		Model      string  `json:"model"`
		ReceivedMS int64   `json:"request_received_ms"`
		TookMS     float64 `json:"total_time_ms"`
		Output     int     `json:"output_tokens"`
		Replay     *struct {
			BlockSize int      `json:"trace_block_size"`
			Input     int      `json:"input_length"`
			Hashes    []uint64 `json:"input_sequence_hashes"`
		} `json:"replay"`
	} `json:"request"`
}

// dynamoReading are the requests of a trace, by session.
type dynamoReading struct {
	agentTraces
	recorded []*agentSession
	byID     map[string]*agentSession
	parents  map[*agentSession]string
	// blocks number the hashes in the order in which they are met.
	blocks map[uint64]int64
	// apart and inSessions count the requests without a session and with one; others are records that are not replayed.
	apart, inSessions, others, bare int
}

// readDynamo reads what Dynamo traced of its requests: lengths, blocks and times, and which session each belongs to. A
// session is a chain of requests; a child begins after the last request of its parent that had begun, and the first one
// that began after the child's end waits for it.
func readDynamo(l *load) error {
	files, err := wekaFiles(l.path)
	if err != nil {
		return err
	}
	r := &dynamoReading{
		agentTraces: agentTraces{l}, byID: map[string]*agentSession{}, parents: map[*agentSession]string{},
		blocks: map[uint64]int64{},
	}
	l.blockSize = 0
	if err := l.eachFile(files, r.record); err != nil {
		return err
	}
	if r.apart > 0 && r.inSessions > 0 {
		return fmt.Errorf("%s: %d requests belong to a session and %d to none: record all with session headers, "+
			"or none", l.path, r.inSessions, r.apart)
	}
	if l.mistaken > 0 || len(r.recorded) == 0 {
		return nil
	}
	if r.others > 0 {
		l.notef("%d records that are not requests left out", r.others)
	}
	if r.bare > 0 {
		l.notef("%d requests without replay metadata left out", r.bare)
	}
	return r.playAll()
}

// record reads a record, which may stand in an envelope.
func (r *dynamoReading) record(line []byte) {
	o, err := parseObject(line)
	if err != nil {
		r.errorf("%v", err)
		return
	}
	if !o.has("schema") && o.has("event") {
		line = o.members["event"]
	}
	var record dynamoRecord
	if err := json.Unmarshal(line, &record); err != nil {
		r.errorf("the record does not have the form of %s: %v", dynamoSchema, err)
		return
	}
	q := record.Request
	switch {
	case record.Schema != dynamoSchema:
		r.errorOf(o, fmt.Errorf("want records of the schema %s, got %q", dynamoSchema, shorten(record.Schema)))
	case record.Event != "request_end":
		r.others++
	case q == nil || q.Replay == nil:
		r.bare++
	default:
		if err := r.add(&record); err != nil {
			r.errorf("%v", err)
		}
	}
}

// add checks a record and adds it to the session that it names, or to one of its own. Hashes of blocks are numbered in
// the order in which they come: equal ones stay equal, which is all that prompts are made by.
func (r *dynamoReading) add(record *dynamoRecord) error {
	q := record.Request
	size, input := q.Replay.BlockSize, q.Replay.Input
	switch {
	case q.ReceivedMS <= 0:
		return errors.New(`field "request_received_ms": want the milliseconds since 1970 at which the request came`)
	case input < 1 || input > math.MaxInt32 || q.Output < 0 || q.Output > math.MaxInt32:
		return fmt.Errorf("an input of %d and an output of %d tokens: want an input of at least 1 and "+
			"an output of at least 0", input, q.Output)
	case size < 1 || size > math.MaxInt32:
		return fmt.Errorf(`field "trace_block_size": want a whole number above 0, got %d`, size)
	case r.options.BlockSize > 0 && size != r.options.BlockSize:
		return fmt.Errorf("the trace has blocks of %d tokens, --isl-block-size says %d", size, r.options.BlockSize)
	case r.blockSize > 0 && size != r.blockSize:
		return fmt.Errorf("blocks of %d tokens do not go with the %d of the records before", size, r.blockSize)
	case len(q.Replay.Hashes) != (input+size-1)/size:
		return fmt.Errorf(`field "input_sequence_hashes": %d hashes of %d tokens for an input of %d`,
			len(q.Replay.Hashes), size, input)
	}
	r.blockSize = size
	round := agentRound{
		line: r.line, input: input, output: max(1, q.Output), model: q.Model, submitted: time.UnixMilli(q.ReceivedMS),
	}
	end := record.EndedMS
	if end == 0 {
		end = q.ReceivedMS + int64(q.TookMS)
	}
	round.took = time.Duration(max(0, min(end-q.ReceivedMS, maxMS))) * time.Millisecond
	for _, hash := range q.Replay.Hashes {
		if _, met := r.blocks[hash]; !met {
			r.blocks[hash] = int64(len(r.blocks)) + 1
		}
		round.blocks = append(round.blocks, r.blocks[hash])
	}
	id, parent := q.ID, ""
	if c := record.Context; c != nil && c.Session != "" {
		id, parent = c.Session, c.Parent
		r.inSessions++
	} else {
		r.apart++
		for id == "" || r.byID[id] != nil {
			id = fmt.Sprintf("%s:%d", id, r.line)
		}
	}
	s := r.byID[id]
	if s == nil {
		s = &agentSession{id: id, trace: id, line: r.line}
		r.byID[id] = s
		r.recorded = append(r.recorded, s)
	}
	if parent != "" && parent != id {
		r.parents[s] = parent
	}
	s.rounds = append(s.rounds, round)
	return nil
}

// playAll makes conversations of the sessions; times count from the earliest request.
func (r *dynamoReading) playAll() error {
	start := r.recorded[0].rounds[0].submitted
	for _, s := range r.recorded {
		s.inOrder()
		if first := s.rounds[0].submitted; first.Before(start) {
			start = first
		}
	}
	for _, s := range r.recorded {
		var end time.Duration
		for i := range s.rounds {
			round := &s.rounds[i]
			if round.at = round.submitted.Sub(start); i > 0 {
				round.think = max(0, round.at-end)
			}
			end = max(end, round.at+round.took)
		}
	}
	traces := r.choose(r.trees())
	requests, err := r.requests(traces)
	if err != nil || r.mistaken > 0 {
		return err
	}
	countAll(requests)
	for i, t := range traces {
		r.playTree(t, requests[i])
	}
	if r.options.Scheduled {
		r.scheduleAll()
	}
	return nil
}

// trees returns the sessions without a parent, with all below them, parents first.
func (r *dynamoReading) trees() (traces []*agentTrace) {
	children := map[*agentSession][]*agentSession{}
	for _, s := range r.recorded {
		parent := r.byID[r.parents[s]]
		if parent == nil || !r.rooted(s) || s.rounds[0].at < parent.rounds[0].at {
			traces = append(traces, &agentTrace{session: s})
			delete(r.parents, s)
			continue
		}
		children[parent] = append(children[parent], s)
	}
	for _, t := range traces {
		for below := children[t.session]; len(below) > 0; below = below[1:] {
			t.agents = append(t.agents, below[0])
			below = append(below, children[below[0]]...)
		}
	}
	return traces
}

// rooted reports whether the parents of a session lead to one without a parent.
func (r *dynamoReading) rooted(s *agentSession) bool {
	met := map[*agentSession]bool{}
	for ; s != nil; s = r.byID[r.parents[s]] {
		if met[s] {
			return false
		}
		met[s] = true
	}
	return true
}

// countAll counts the known blocks of all requests, in the order in which they came: they all went to one server.
func countAll(traces []map[*agentSession][]recordedRequest) {
	var sorted []*recordedRequest
	for _, sessions := range traces {
		for _, requests := range sessions {
			for i := range requests {
				sorted = append(sorted, &requests[i])
			}
		}
	}
	slices.SortFunc(sorted, func(a, b *recordedRequest) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row))
	})
	var sent PrefixCache
	for _, q := range sorted {
		q.prefix = sent.Take(q.ids)
	}
}

// playTree makes the conversations of a session and its agents. An agent begins with the turn of its parent that was
// under way when it was called; without such a turn, or on the recording's own schedule, it stands alone. Delays are
// set from the last session back: a turn that waits for children needs their ends.
func (r *dynamoReading) playTree(t *agentTrace, requests map[*agentSession][]recordedRequest) {
	tree := newTree(r.load)
	all := append([]*agentSession{t.session}, t.agents...)
	chains := map[*agentSession]*chain{}
	for _, s := range all {
		own := requests[s]
		if len(own) == 0 {
			continue // all left out by filters; its children stand alone
		}
		r.line = s.line
		c := tree.conversationOf(s.trace, own)
		chains[s] = c
		parent := chains[r.byID[r.parents[s]]]
		after := -1
		if parent != nil {
			after = parent.before(own[0].at)
		}
		if after < 0 || r.options.Scheduled {
			r.roots = append(r.roots, c.conversation)
			continue
		}
		tree.branch(parent, c, after, parent.from(c.end(), after))
	}
	for _, s := range slices.Backward(all) { // what waits for children knows their ends
		if c := chains[s]; c != nil {
			tree.setDelays(c)
		}
	}
}

// isDynamo reports whether a row is a record of Dynamo's request trace.
func isDynamo(o *object) bool {
	if jsonscan.Text(o.members["schema"]) == dynamoSchema {
		return true
	}
	var record dynamoRecord
	return o.has("event") && json.Unmarshal(o.members["event"], &record) == nil && record.Schema == dynamoSchema
}
