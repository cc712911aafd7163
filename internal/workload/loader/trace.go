package loader

import (
	"fmt"

	"aiperf/internal/workload/dataset"
)

// traceRow is one request of a trace, before rows become conversations.
type traceRow struct {
	line int
	// session groups rows; rows without one stand alone.
	session string
	// order sorts the rows of a session where the file does not.
	order int
	turn  dataset.Turn
	// tokens is the length of the text to make, 0 for a row that has its content; ids are its blocks.
	tokens int
	ids    []int64
	kind   contentKind
}

// contentKind is what a row of a trace sends.
type contentKind uint8

const (
	madeText contentKind = iota
	givenText
	messageList
	messageDelta
	wholePayload
)

// verbatim rows do not mix with rows whose text is put into messages.
func (k contentKind) verbatim() bool { return k >= messageList }

// trace reads a format whose rows are requests: read collects them, group makes conversations of them.
func trace(read func(*load) error, group func(*load, []traceRow) error) func(*load) error {
	if group == nil {
		group = (*load).groupRows
	}
	return func(l *load) error {
		if err := read(l); err != nil {
			return err
		}
		if l.mistaken > 0 {
			return nil
		}
		rows := l.windowed(l.rows)
		l.rows = nil
		if err := l.options.Reshape.apply(rows, l.blockSize, l.options.Seed); err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
		return group(l, rows)
	}
}

// addRow takes a row that passes the filters of lengths.
func (l *load) addRow(r traceRow) {
	o := &l.options
	if o.MaxISL > 0 && r.tokens > o.MaxISL {
		l.dropped.long++
		return
	}
	if n := r.turn.MaxTokens; o.MaxOSL > 0 && n != nil && *n > o.MaxOSL {
		limit := o.MaxOSL
		r.turn.MaxTokens = &limit
		l.dropped.capped++
	}
	l.checkFit(r.tokens, len(r.ids))
	r.line = l.line
	l.rows = append(l.rows, r)
}

// checkFit refuses a row whose hash ids stand for more tokens than it has.
func (l *load) checkFit(tokens, ids int) {
	if last := tokens - (ids-1)*l.blockSize; ids > 0 && last <= 0 {
		l.errorf("field \"hash_ids\": %d ids of %d tokens do not fit into an input length of %d: the last block "+
			"would have %d tokens",
			ids, l.blockSize, tokens, last)
	}
}

// windowed drops the rows outside of the window. A row without a time goes with the row of its session
// before it, after which it was sent.
func (l *load) windowed(rows []traceRow) []traceRow {
	if l.options.Window.open() {
		return rows
	}
	kept := map[string]bool{}
	left := rows[:0]
	for _, r := range rows {
		keep, seen := kept[r.session]
		if t := r.turn.TimestampMS; t != nil {
			keep = l.options.Window.Holds(*t)
		} else if !seen || r.session == "" {
			keep = true
		}
		if !keep {
			l.dropped.outside++
		} else {
			left = append(left, r)
		}
		if r.session != "" {
			kept[r.session] = keep
		}
	}
	clear(rows[len(left):])
	return left
}

// groupRows makes conversations of rows in their order.
func (l *load) groupRows(rows []traceRow) error {
	kinds := map[string]contentKind{}
	for i := range rows {
		r := &rows[i]
		l.line = r.line
		if first, ok := kinds[r.session]; ok && r.session != "" && !l.mixable(first, r.kind, r.session) {
			continue
		} else if !ok {
			kinds[r.session] = r.kind
		}
		c := l.conversation(r.session)
		switch r.kind {
		case messageList, wholePayload:
			c.ContextMode = dataset.MessageArrayWithResponses
		}
		c.Turns = append(c.Turns, r.asTurn())
	}
	return nil
}

// sameKind reports whether rows go together in a session.
func sameKind(first, next contentKind) bool {
	return first == next || !first.verbatim() && !next.verbatim()
}

func (l *load) mixable(first, next contentKind, session string) bool {
	switch {
	case sameKind(first, next):
		return true
	case (first == messageDelta) != (next == messageDelta) && first.verbatim() && next.verbatim():
		l.errorf(`field "message_mode": every row of the session %q must say delta, or none`, shorten(session))
	default:
		l.errorf("the session %q mixes rows that bring their messages with rows whose text is made or given",
			shorten(session))
	}
	return false
}

// asTurn is the turn of a row; a text to make stays a plan.
func (r *traceRow) asTurn() dataset.Turn {
	if r.tokens > 0 {
		r.turn.Prompt = &dataset.Prompt{Tokens: r.tokens, Blocks: r.ids, Row: uint64(r.line)}
	}
	return r.turn
}
