package loader

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

var bailianKeys = []string{"chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "turn",
	"hash_ids", headersKey}

// bailian reads one request. Its session is found when all rows are known, through the parents.
func (l *lineReader) bailian(line []byte) row {
	o, _, ok := l.object(line, bailianKeys)
	if !ok {
		return row{}
	}
	r, err := bailianRow(o)
	if err == nil {
		r.turn.Headers, err = l.headers(o)
	}
	switch {
	case err == nil:
	case o.has("chat_id"):
		l.errorf("%v", err)
	default:
		l.errorOf(o, err)
	}
	return r
}

func (f *faults) chatTwice(chat, parent int64) {
	f.errorf("field \"chat_id\": %d was used before, with the parent %d", chat, parent)
}

// bailianRow reads a request. Times are seconds, with a fraction; its place in the conversation is found once all rows
// are known, since a row may come before its parent.
func bailianRow(o *object) (r row, err error) {
	for _, key := range []string{"chat_id", "timestamp", "input_length", "output_length"} {
		if !o.has(key) {
			return r, fmt.Errorf("field %q is missing", key)
		}
	}
	number := func(key string, absent int64) int64 {
		n, e := o.integer(key, absent)
		if err == nil {
			err = e
		}
		return n
	}
	r.chat.chat, r.chat.parent = number("chat_id", 0), number("parent_chat_id", -1)
	r.chat.order = int32(min(max(number("turn", 1), math.MinInt32), math.MaxInt32))
	if err != nil {
		return r, err
	}
	if r.turn.MaxTokens, err = o.outputLength("output_length"); err != nil {
		return r, err
	}
	var seconds float64
	if json.Unmarshal(o.members["timestamp"], &seconds) != nil || seconds < 0 || seconds > maxMS/1000 {
		return r, o.wrong("timestamp", "a number of seconds of at least 0")
	}
	r.turn.TimestampMS = milliseconds(seconds)
	n, err := o.positive("input_length")
	if err != nil {
		return r, err
	}
	r.tokens = *n
	r.ids, err = o.blockIDs("hash_ids")
	return r, err
}

// milliseconds converts a decimal number of seconds, without the noise of the conversion.
func milliseconds(seconds float64) *float64 {
	ms := math.Round(seconds*1e9) / 1e6
	return &ms
}

// extends reports whether ids begin with those of the turn before.
func extends(before, ids []int64) bool {
	return len(before) > 0 && len(ids) >= len(before) && slices.Equal(before, ids[:len(before)])
}
