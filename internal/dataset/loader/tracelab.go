package loader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

const traceLab = "tracelab"

var traceLabKeys = []string{
	"session_id", "round_index", "input_tokens_total", "prefix_tokens", "newly_append_tokens", "output_tokens", "timing_events",
}

// agentRound is one request of a recorded coding agent.
type agentRound struct {
	traceRow
	// prefix is how many of its tokens the server had cached.
	prefix int
}

// traceLabRows reads the rounds of coding agents. Their contents were not recorded: a prompt begins with the blocks of the
// round before as far as the recorded prefix goes, and goes on with blocks of its own. Times count from the first
// round of the session.
func (l *load) traceLabRows() error {
	var rounds []agentRound
	err := eachRow(func(l *load, line []byte) {
		o, err := parseObject(line)
		if err != nil {
			l.errorf("%v", err)
			return
		}
		r, err := traceLabRound(o)
		if err != nil {
			l.errorf("%v", err)
			return
		}
		r.line = l.line
		rounds = append(rounds, r)
	})(l)
	if err != nil || l.mistaken > 0 {
		return err
	}
	number := map[string]int{} // sessions stay in the order of the file
	for i := range rounds {
		if _, ok := number[rounds[i].session]; !ok {
			number[rounds[i].session] = len(number)
		}
	}
	slices.SortStableFunc(rounds, func(a, b agentRound) int {
		return cmp.Or(cmp.Compare(number[a.session], number[b.session]), cmp.Compare(a.order, b.order))
	})
	var chain []int64
	var start float64
	fresh := int64(0)
	for i := range rounds {
		r := &rounds[i]
		if i == 0 || r.session != rounds[i-1].session {
			chain, start = nil, *r.turn.TimestampMS
		}
		kept := min(len(chain), r.prefix/l.blockSize)
		r.ids = slices.Clone(chain[:kept])
		for len(r.ids) < (r.tokens+l.blockSize-1)/l.blockSize {
			r.ids = append(r.ids, fresh)
			fresh++
		}
		chain = r.ids
		at := max(0, *r.turn.TimestampMS-start)
		r.turn.TimestampMS = &at
		l.line = r.line
		l.addRow(r.traceRow)
	}
	return nil
}

// traceLabRound reads a row; what it says beside these members is of the agent's tools and passed over.
func traceLabRound(o *object) (r agentRound, err error) {
	for _, key := range traceLabKeys {
		if !o.has(key) {
			return r, fmt.Errorf("field %q is missing", key)
		}
	}
	if r.session, err = o.text("session_id"); err != nil {
		return r, err
	}
	if r.session == "" {
		return r, o.wrong("session_id", "a name")
	}
	counts := [4]int{}
	for i, key := range []string{"round_index", "prefix_tokens", "newly_append_tokens", "output_tokens"} {
		n, err := o.integer(key, 0)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return r, o.wrong(key, "a whole number of at least 0")
		}
		counts[i] = int(n)
	}
	total, err := o.positive("input_tokens_total")
	if err != nil {
		return r, err
	}
	if *total != counts[1]+counts[2] {
		return r, fmt.Errorf("the input of %d tokens is not the sum of prefix_tokens %d and newly_append_tokens %d", *total, counts[1], counts[2])
	}
	limit := max(1, counts[3])
	r.order, r.prefix, r.tokens, r.turn.MaxTokens = counts[0], counts[1], *total, &limit
	r.turn.TimestampMS, err = inputReady(o)
	return r, err
}

// inputReady is when the last of a round's input was there: that before its first output, in milliseconds since 1970.
func inputReady(o *object) (*float64, error) {
	var events []struct {
		Type string `json:"event_type"`
		Time string `json:"timestamp"`
	}
	if json.Unmarshal(o.members["timing_events"], &events) != nil || len(events) == 0 {
		return nil, o.wrong("timing_events", "a list of at least one event with event_type and timestamp")
	}
	ready := events[0].Time
	for _, e := range events {
		if e.Type != "user_message" && e.Type != "tool_result" {
			break
		}
		ready = e.Time
	}
	at, err := time.Parse(time.RFC3339Nano, ready)
	if err != nil {
		return nil, errors.New(`field "timing_events": want times such as 2026-01-31T12:00:00Z, got ` + shorten(ready))
	}
	ms := float64(at.UnixMicro()) / 1000
	return &ms, nil
}
