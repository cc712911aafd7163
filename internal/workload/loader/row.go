package loader

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"

	"aiperf/internal/workload/dataset"
)

// row is one line of a file whose lines are read one by one: a request of a trace, or turns of a conversation.
type row struct {
	line int
	// session groups rows; rows without one stand alone.
	session string
	kind    contentKind
	turn    dataset.Turn
	more    []dataset.Turn // those behind the first
	prompt
	chat chatRow
	// arrival rows have a time and nothing else: their prompts have the lengths that the user asks for.
	arrival bool
	// absent rows are left out; of them only the time is known.
	absent bool
}

// prompt is a text to make.
type prompt struct {
	tokens int     // 0: the row has its content
	ids    []int64 // of its blocks
	// session is a number of its session, where a trace is reshaped.
	session int
}

// chatRow places a row whose conversation is known when all rows are.
type chatRow struct {
	chat, parent int64
	order        int32 // in the conversation
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

// sameKind reports whether rows go together in a session.
func sameKind(first, next contentKind) bool {
	return first == next || !first.verbatim() && !next.verbatim()
}

// turns appends the turns of the row; a text to make stays a plan.
func (r *row) turns(to []dataset.Turn) []dataset.Turn {
	first := r.turn
	if r.tokens > 0 || r.arrival {
		first.Prompt = &dataset.Prompt{Tokens: r.tokens, Blocks: r.ids, Row: uint64(r.line)}
	}
	return append(append(to, first), r.more...)
}

// noTime stands for the time of a row without one.
var noTime = math.NaN()

// at returns the recorded time of the first turn.
func (r *row) at() float64 {
	if r.turn.TimestampMS == nil {
		return noTime
	}
	return *r.turn.TimestampMS
}

// notedRow is what the grouping of rows needs of one.
type notedRow struct {
	at       float64
	key      sessionKey
	turns    uint32
	kind     contentKind
	absent   bool
	contents *dataset.Contents // nil: given text
	number   int               // one more than the number of an id like a generated one; 0: another id
	chat     chatRow
}

// onePrompt is what most rows of traces hold.
var onePrompt = dataset.Contents{Prompts: 1}

// sessionKey stands for a session id: a hash of it, 0 for none. That two ids have the same one shows when their rows
// are read together.
type sessionKey = uint64

func (r *row) note(seed maphash.Seed) notedRow {
	n := notedRow{at: r.at(), turns: uint32(1 + len(r.more)), kind: r.kind, absent: r.absent, chat: r.chat}
	if !r.absent {
		session := []byte(r.session)
		n.contents, n.key, n.number = r.contents(), keyOf(session, seed), numberOf(session)
	}
	return n
}

// contents counts what the turns of the row hold; nil: given text.
func (r *row) contents() *dataset.Contents {
	var c dataset.Contents
	mode := dataset.MessageArrayWithResponses
	if r.kind == messageDelta {
		mode = dataset.DeltasWithoutResponses
	}
	c.Add(&r.turn, mode)
	for i := range r.more {
		c.Add(&r.more[i], mode)
	}
	if r.tokens > 0 || r.arrival {
		c.Prompts++
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
	return max(1, maphash.Bytes(seed, session))
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
