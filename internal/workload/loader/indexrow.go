package loader

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"

	"aiperf/internal/workload/dataset"
)

// sessionKey stands for a session id: a hash of it, 0 for none. That two ids have the same one shows when their rows
// are read together.
type sessionKey uint64

// notedRow is what the index asks of a row.
type notedRow struct {
	at     float64 // NaN: no time
	key    sessionKey
	turns  uint32
	kind   contentKind
	holds  *dataset.Contents // nil: given text
	number int               // one more than the number of an id like a generated one; 0: another id
	chat   chatRow
	absent bool // the row is left out
}

// chatRow places a row whose conversation is known when all rows are.
type chatRow struct {
	chat, parent int64
	order        int32
}

// onePrompt is what most rows of traces hold.
var onePrompt = dataset.Contents{Prompts: 1}

// parsed is what a chunk says of its rows.
type parsed struct {
	chunk
	load *load // with what was noted of the chunk alone
	rows []notedRow
	err  error
	done chan struct{}
}

// task is a chunk to parse.
type task struct {
	*parsed
	text *[]byte
}

func (t task) parse(x *Indexed, seed maphash.Seed) {
	l := x.load.anew()
	t.load = l
	r := scannedRow{ignoresMember: func(key []byte) bool { return l.unknown[string(key)] }}
	text := *t.text
	t.rows = make([]notedRow, 0, len(text)/100)
	number := t.line
	for at := 0; at < len(text); {
		number++
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		line := bytes.TrimSpace(text[at : at+end])
		start := at
		at += end + 1
		if len(line) == 0 {
			continue
		}
		l.line = number
		if len(t.rows)%markEvery == 0 {
			t.marks = append(t.marks, mark{uint32(start), uint32(number - 1 - t.line)})
		}
		if t.err = t.row(x, &r, line, seed); t.err != nil {
			return
		}
	}
}

// row notes what is kept of a row. Those of the common shape of a trace are not taken apart any further.
func (p *parsed) row(x *Indexed, r *scannedRow, line []byte, seed maphash.Seed) error {
	n := notedRow{at: math.NaN(), turns: 1}
	if x.form.name == mooncakeTrace && r.scan(line) && r.has&hasInput != 0 {
		limit := 0
		if r.has&hasTimestamp != 0 {
			n.at = r.timestamp
		}
		if r.has&hasOutput != 0 {
			limit = r.output
		}
		o := &p.load.options
		switch {
		case o.MaxISL > 0 && r.input > o.MaxISL:
			p.load.dropped.long++
			n.absent = true
		case o.MaxOSL > 0 && limit > o.MaxOSL:
			p.load.dropped.capped++
		}
		if !n.absent {
			p.load.checkFit(r.input, len(r.ids))
			n.holds, n.key, n.number = &onePrompt, keyOf(r.session, seed), numberOf(r.session)
		}
		p.rows = append(p.rows, n)
		return nil
	}
	row, ok := p.load.lineAlone(x.form, line)
	if len(p.load.media) > 0 {
		return errNotIndexed // a local file is read once, and kept
	}
	if p.load.notIndexed {
		return errNotIndexed
	}
	n.at, n.chat = row.at, row.chat
	switch {
	case !ok:
	case row.turns == nil:
		n.absent = true
	default:
		n.turns, n.kind, n.holds = uint32(len(row.turns)), row.kind, contentsOf(row.turns, row.kind)
		n.key, n.number = keyOf([]byte(row.session), seed), numberOf([]byte(row.session))
	}
	p.rows = append(p.rows, n)
	return nil
}

// aloneRow is a row read without those before it.
type aloneRow struct {
	line    int
	session string
	// turns is nil for a row that is left out.
	turns  []dataset.Turn
	at     float64 // of the first turn, NaN for none
	kind   contentKind
	tokens int
	ids    []int64
	chat   chatRow
}

// lineAlone reads one line as its format does, on a load that has seen no others; false: it is mistaken.
func (l *load) lineAlone(f format, line []byte) (aloneRow, bool) {
	l.conversations, l.lines, l.rows, l.earliest = l.conversations[:0], l.lines[:0], l.rows[:0], 0
	clear(l.sessions)
	clear(l.parents)
	before := l.mistaken
	f.line(l, line)
	out := aloneRow{line: l.line, at: math.NaN()}
	if l.mistaken > before {
		return out, false
	}
	for chat, parent := range l.parents { // one at most
		out.chat = chatRow{chat: chat, parent: parent}
	}
	if l.earliest != 0 {
		out.at = l.earliest
	}
	switch {
	case len(l.rows) > 0:
		r := &l.rows[0]
		out.session, out.kind, out.tokens, out.ids = r.session, r.kind, r.tokens, r.ids
		out.chat.order = int32(min(max(r.order, math.MinInt32), math.MaxInt32))
		out.turns = []dataset.Turn{r.asTurn()}
	case len(l.conversations) > 0:
		out.session, out.turns = l.conversations[0].SessionID, l.conversations[0].Turns
	}
	if len(out.turns) > 0 && out.turns[0].TimestampMS != nil {
		out.at = *out.turns[0].TimestampMS
	}
	return out, true
}

// contentsOf counts what the turns of a row hold; nil: given text.
func contentsOf(turns []dataset.Turn, kind contentKind) *dataset.Contents {
	var c dataset.Contents
	mode := dataset.MessageArrayWithResponses
	if kind == messageDelta {
		mode = dataset.DeltasWithoutResponses
	}
	for i := range turns {
		c.Add(&turns[i], mode)
	}
	switch c {
	case dataset.Contents{}:
		return nil
	case onePrompt:
		return &onePrompt
	}
	return &c
}

// keyOf stands for a session.
func keyOf(session []byte, seed maphash.Seed) sessionKey {
	if len(session) == 0 {
		return 0
	}
	return sessionKey(max(1, maphash.Bytes(seed, session)))
}

func numberOf(session []byte) int {
	number, ok := bytes.CutPrefix(session, []byte("session_"))
	if !ok || len(number) < 6 {
		return 0
	}
	n, err := strconv.Atoi(string(number))
	if err != nil || n < 0 || fmt.Sprintf("%06d", n) != string(number) {
		return 0
	}
	return n + 1
}
