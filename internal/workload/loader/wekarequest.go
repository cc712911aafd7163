package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"aiperf/internal/workload/dataset"
)

// request reads one request: times in seconds since the start of the trace, lengths in tokens, and the ids of its
// blocks, which are told apart by their scope. The ids must fit the length, since the prompt is made of them.
func (w *wekaFile) request(o *object) (r recordedRequest, err error) {
	if err := onlyKeys(o, wekaRequestKeys); err != nil {
		return r, err
	}
	var took float64
	for _, field := range []struct {
		key  string
		to   *float64
		must bool
	}{{"t", &r.at, true}, {"api_time", &took, false}, {"think_time", &r.think, false}} {
		if *field.to, err = o.seconds(field.key, field.must); err != nil {
			return r, err
		}
	}
	r.end = r.at + took
	if r.model, err = o.text("model"); err != nil {
		return r, err
	}
	in, err := o.positive("in")
	switch {
	case err != nil:
		return r, err
	case in == nil:
		return r, errors.New(`field "in" is missing: want the number of input tokens`)
	}
	r.in = *in
	if o.has("out") {
		if json.Unmarshal(o.members["out"], &r.out) != nil || r.out < 0 {
			return r, o.wrong("out", "a whole number of at least 0")
		}
	}
	ids, err := o.blockIDs("hash_ids")
	if err != nil {
		return r, err
	}
	if m, size := len(ids), w.load.blockSize; m > 0 && r.in <= (m-1)*size {
		return r, fmt.Errorf(`field "hash_ids": %d ids of %d tokens do not fit into an input of %d`, m, size, r.in)
	}
	for _, id := range ids {
		r.ids = append(r.ids, scoped(w.scope, id))
	}
	w.rows++
	r.row = uint64(scoped(w.scope, int64(w.rows)))
	return r, nil
}

// scoped returns a number of one recording among those of all.
func scoped(scope, id int64) int64 {
	const odd = 0x9e3779b97f4a7c15 // spreads neighbouring numbers over all bits
	return scope ^ int64(uint64(id+1)*odd)
}

// seconds returns a number of seconds of at least 0; 0 if it is absent and may be.
func (o *object) seconds(key string, must bool) (s float64, err error) {
	if !o.has(key) {
		if must {
			return 0, fmt.Errorf("field %q is missing: want a number of seconds", key)
		}
		return 0, nil
	}
	if json.Unmarshal(o.members[key], &s) != nil || s < 0 || s > math.MaxInt32 {
		return 0, o.wrong(key, "a number of seconds of at least 0")
	}
	return s, nil
}

// agent reads an agent with its requests, in the order of time. Some recordings count its times from the start of the
// trace, others from its call: a first time before the call tells.
func (w *wekaFile) agent(o *object) (a recordedAgent, err error) {
	if err := onlyKeys(o, wekaAgentKeys); err != nil {
		return a, err
	}
	if a.id, err = o.text("agent_id"); err == nil && a.id == "" {
		err = errors.New(`field "agent_id" is missing: every agent needs one`)
	}
	if err != nil {
		return a, err
	}
	if a.at, err = o.seconds("t", true); err != nil {
		return a, err
	}
	var items []json.RawMessage
	if o.has("requests") && json.Unmarshal(o.members["requests"], &items) != nil {
		return a, o.wrong("requests", "a list of requests")
	}
	for i, item := range items {
		inner, err := parseObject(item)
		if err == nil {
			if kind, _ := inner.text("type"); kind != "n" && kind != "s" {
				err = inner.wrong("type", `"n" or "s"`)
			}
		}
		var r recordedRequest
		if err == nil {
			r, err = w.request(inner)
		}
		if err != nil {
			return a, fmt.Errorf("requests[%d]: %w", i, err)
		}
		if w.keeps(&r) {
			a.requests = append(a.requests, r)
		}
	}
	byTime(a.requests)
	if len(a.requests) > 0 && a.requests[0].at < a.at {
		// Times before the call of the agent count from it.
		for i := range a.requests {
			a.requests[i].at += a.at
			a.requests[i].end += a.at
		}
	}
	return a, nil
}

// longest returns the longest context of a recording, its output included.
func longest(requests []recordedRequest, agents []recordedAgent) (n int) {
	for _, r := range requests {
		n = max(n, r.in+r.out)
	}
	for _, a := range agents {
		for _, r := range a.requests {
			n = max(n, r.in+r.out)
		}
	}
	return n
}

// asTurn returns the turn of a request; its text stays a plan.
func (r *recordedRequest) asTurn() dataset.Turn {
	limit, at := max(1, r.out), r.at*1000
	return dataset.Turn{
		TimestampMS: &at, MaxTokens: &limit, Prefix: r.prefix,
		Prompt: &dataset.Prompt{Tokens: r.in, Blocks: r.ids, Row: r.row},
	}
}
