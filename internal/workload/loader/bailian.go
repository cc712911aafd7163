package loader

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/workload/dataset"
)

var bailianKeys = []string{"chat_id", "parent_chat_id", "timestamp", "input_length", "output_length", "type", "turn",
	"hash_ids"}

func bailianRows(l *load) error {
	if err := eachRow((*load).bailian)(l); err != nil {
		return err
	}
	l.findRoots()
	return nil
}

// bailian reads one request. Its session is found when all rows are known, through the parents.
func (l *load) bailian(line []byte) {
	o, _, ok := l.row(line, bailianKeys)
	if !ok {
		return
	}
	r, chat, parent, err := bailianRow(o)
	if err != nil {
		if o.has("chat_id") {
			l.errorf("%v", err)
		} else {
			l.errorOf(o, err)
		}
		return
	}
	if first, twice := l.parents[chat]; twice {
		l.chatTwice(chat, first)
		return
	}
	l.parents[chat] = parent
	r.session = strconv.FormatInt(chat, 10)
	l.addRow(r)
}

func (l *load) chatTwice(chat, parent int64) {
	l.errorf("field \"chat_id\": %d was used before, with the parent %d", chat, parent)
}

func bailianRow(o *object) (r traceRow, chat, parent int64, err error) {
	for _, key := range []string{"chat_id", "timestamp", "input_length", "output_length"} {
		if !o.has(key) {
			return r, 0, 0, fmt.Errorf("field %q is missing", key)
		}
	}
	number := func(key string, absent int64) int64 {
		n, e := o.integer(key, absent)
		if err == nil {
			err = e
		}
		return n
	}
	chat, parent = number("chat_id", 0), number("parent_chat_id", -1)
	r.order = int(number("turn", 1))
	output := number("output_length", 0)
	if err == nil && (output < 0 || output > math.MaxInt32) {
		err = o.wrong("output_length", "a whole number of at least 0")
	}
	if err != nil {
		return r, 0, 0, err
	}
	limit := max(1, int(output))
	r.turn.MaxTokens = &limit
	var seconds float64
	if json.Unmarshal(o.members["timestamp"], &seconds) != nil || seconds < 0 || seconds > maxMS/1000 {
		return r, 0, 0, o.wrong("timestamp", "a number of seconds of at least 0")
	}
	r.turn.TimestampMS = milliseconds(seconds)
	n, err := o.positive("input_length")
	if err != nil {
		return r, 0, 0, err
	}
	r.tokens = *n
	r.ids, err = o.integers("hash_ids")
	return r, chat, parent, err
}

// milliseconds of a decimal number of seconds, without the noise of the conversion.
func milliseconds(seconds float64) *float64 {
	ms := math.Round(seconds*1e9) / 1e6
	return &ms
}

// findRoots replaces the chat of each row by the root of its conversation.
func (l *load) findRoots() {
	roots := map[int64]int64{}
	for i := range l.rows {
		chat, _ := strconv.ParseInt(l.rows[i].session, 10, 64)
		l.rows[i].session = strconv.FormatInt(l.rootOf(chat, roots), 10)
	}
	// A stable sort by turn alone keeps the sessions in the order of their first rows only if none of
	// them begins late, so sessions are numbered first.
	number := map[string]int{}
	for i := range l.rows {
		if _, ok := number[l.rows[i].session]; !ok {
			number[l.rows[i].session] = len(number)
		}
	}
	slices.SortStableFunc(l.rows, func(a, b traceRow) int {
		if d := number[a.session] - number[b.session]; d != 0 {
			return d
		}
		return a.order - b.order
	})
}

// rootOf walks up the parents. A missing parent, a chat that is its own parent and a cycle end the walk.
// Roots found before are kept, or long conversations would be walked up from each of their turns.
func (l *load) rootOf(chat int64, roots map[int64]int64) int64 {
	var path []int64
	seen := map[int64]bool{}
	for {
		if root, known := roots[chat]; known {
			chat = root
			break
		}
		seen[chat] = true
		path = append(path, chat)
		parent := l.parents[chat]
		if _, known := l.parents[parent]; !known || seen[parent] {
			break
		}
		chat = parent
	}
	for _, c := range path {
		roots[c] = chat
	}
	return chat
}

// goesOn reports whether ids begin with those of the turn before.
func goesOn(before, ids []int64) bool {
	return len(before) > 0 && len(ids) >= len(before) && slices.Equal(before, ids[:len(before)])
}

// bailianGroups makes conversations. Where each turn's ids go on from those of the turn before, its
// length counts the whole history, and sending that once more would count it twice.
func (l *load) bailianGroups(rows []traceRow) error {
	cumulative := map[string]bool{}
	last := map[string][]int64{}
	for i := range rows {
		r := &rows[i]
		before, again := last[r.session]
		switch {
		case again && cumulative[r.session]:
			cumulative[r.session] = goesOn(before, r.ids)
		case !again:
			cumulative[r.session] = true
		}
		last[r.session] = r.ids
	}
	if err := l.groupRows(rows); err != nil {
		return err
	}
	whole := 0
	for i := range l.conversations {
		if c := &l.conversations[i]; len(c.Turns) > 1 && cumulative[c.SessionID] {
			c.ContextMode = dataset.MessageArrayWithResponses
			whole++
		}
	}
	if whole > 0 {
		l.notef("%d conversations are sent without the history of earlier turns: the hash ids of their turns hold it already", whole)
	}
	return nil
}
