package loader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"sort"
	"strconv"
	"sync"

	"aiperf/internal/workload/dataset"
)

// Indexed is a file whose rows stay where they are. Every row was read and found right once; it is read again when its
// conversation is played. Only times and places are in memory, some ten bytes a row.
type Indexed struct {
	load   *load
	form   format
	file   *os.File
	count  int
	chunks []chunk
	holds  dataset.Contents
	// times are those of first turns, NaN where there is none; origin is taken off the times of rows.
	times  floats
	origin float64
	// The rows of conversation i are list[starts[i]:starts[i+1]]; without a list row i is conversation i.
	starts, list []uint32
	// turnStarts are the turns before each conversation, where rows have several; rowTurns those of each row, while
	// they are counted.
	turnStarts, rowTurns ints
	// named are the conversations with an id of their own, taken the numbers of such ids as generated ones would have.
	named bitset
	taken []int
	// rootIDs are the ids of conversations that are no row's; grown tells that turns may hold those before them.
	rootIDs ints
	grown   bool
	buffers sync.Pool
	loads   sync.Pool
}

func newIndexed(l *load, f format, file *os.File) *Indexed {
	return &Indexed{
		load: l, form: f, file: file,
		buffers: sync.Pool{New: func() any { return new([]byte) }},
		loads:   sync.Pool{New: func() any { return l.anew() }},
	}
}

// Len implements [dataset.Conversations].
func (x *Indexed) Len() int {
	if x.starts == nil {
		return x.count
	}
	return len(x.starts) - 1
}

// rowsOf is the number of rows of a conversation.
func (x *Indexed) rowsOf(i int) int {
	if x.starts == nil {
		return 1
	}
	return int(x.starts[i+1] - x.starts[i])
}

// TurnsOf implements [dataset.Conversations].
func (x *Indexed) TurnsOf(i int) int {
	if x.turnStarts.n > 0 {
		return int(x.turnStarts.at(i+1) - x.turnStarts.at(i))
	}
	return x.rowsOf(i)
}

// TurnsBefore returns the number of turns of all conversations before one.
func (x *Indexed) TurnsBefore(i int) int {
	switch {
	case x.turnStarts.n > 0:
		return int(x.turnStarts.at(i))
	case x.starts == nil:
		return i
	}
	return int(x.starts[i])
}

// Turns implements [dataset.Conversations].
func (x *Indexed) Turns() int { return x.TurnsBefore(x.Len()) }

// Branches implements [dataset.Conversations]: rows of a file never branch.
func (x *Indexed) Branches() bool { return false }

// Count implements [dataset.Conversations].
func (x *Indexed) Count(dataset.ContextMode) dataset.Contents { return x.holds }

// Time implements [dataset.Conversations]. First turns, whose delays mean nothing, are not read again.
func (x *Indexed) Time(conversation, turn int) (atMS, delayMS *float64) {
	if turn > 0 {
		return x.At(conversation).Turns[turn].Time()
	}
	if at := x.times.at(conversation); !math.IsNaN(at) {
		return &at, nil
	}
	return nil, nil
}

// Number is which of the generated ids a conversation without an id of its own has.
func (x *Indexed) Number(i int) int {
	n := i - x.named.before(i)
	// Below taken number k are taken[k]-k free ones.
	return n + sort.Search(len(x.taken), func(k int) bool { return x.taken[k]-k > n })
}

func (x *Indexed) rowOf(i, k int) int {
	if x.list == nil {
		return i
	}
	return int(x.list[int(x.starts[i])+k])
}

// At implements [dataset.Conversations]. It reads the rows of the conversation again.
func (x *Indexed) At(i int) *dataset.Conversation {
	n := x.rowsOf(i)
	c := &dataset.Conversation{Turns: make([]dataset.Turn, 0, x.TurnsOf(i))}
	holdsPast := x.grown && n > 1
	var before []int64
	for k := range n {
		row, err := x.readRow(x.rowOf(i, k))
		if err != nil {
			c.Broken = err
			continue
		}
		if k > 0 && x.rootIDs.n == 0 && row.session != c.SessionID {
			c.Broken = x.changed(row.line, fmt.Errorf("the sessions %q and %q are taken for one", shorten(c.SessionID),
				shorten(row.session)))
		}
		c.SessionID = row.session
		c.Turns = append(c.Turns, row.turns...)
		if row.kind == messageList || row.kind == wholePayload {
			c.ContextMode = dataset.MessageArrayWithResponses
		}
		holdsPast = holdsPast && (k == 0 || goesOn(before, row.ids))
		before = row.ids
	}
	if holdsPast {
		c.ContextMode = dataset.MessageArrayWithResponses
	}
	if x.rootIDs.n > 0 {
		c.SessionID = strconv.FormatInt(x.rootIDs.at(i), 10)
	}
	if missing := x.TurnsOf(i) - len(c.Turns); missing != 0 {
		if c.Broken == nil {
			c.Broken = fmt.Errorf("%s: the file has changed since it was read", x.load.path)
		}
		c.Turns = append(c.Turns, make([]dataset.Turn, max(0, missing))...)[:x.TurnsOf(i)]
	}
	if x.load.options.StripImages {
		stripImages(c)
	}
	return c
}

// readRow reads a row again.
func (x *Indexed) readRow(number int) (row aloneRow, err error) {
	at, _ := slices.BinarySearchFunc(x.chunks, number, func(c chunk, row int) int {
		if c.row <= row {
			return -1
		}
		return 1
	})
	c := &x.chunks[at-1]
	m := (number - c.row) / markEvery
	from, to := int64(c.marks[m].offset), c.bytes
	if m+1 < len(c.marks) {
		to = int64(c.marks[m+1].offset)
	}
	buffer := x.buffers.Get().(*[]byte)
	defer x.buffers.Put(buffer)
	*buffer = slices.Grow((*buffer)[:0], int(to-from))[:to-from]
	if _, err := x.file.ReadAt(*buffer, c.offset+from); err != nil && err != io.EOF {
		return row, err
	}
	line, left := c.line+int(c.marks[m].line), *buffer
	for skip := (number - c.row) % markEvery; ; {
		line++
		text, rest, more := bytes.Cut(left, []byte{'\n'})
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if skip == 0 {
				return x.parseRow(text, line)
			}
			skip--
		}
		if !more {
			return row, x.changed(line, nil)
		}
		left = rest
	}
}

func (x *Indexed) changed(line int, why error) error {
	if why == nil {
		return fmt.Errorf("%s:%d: the file has changed since it was read", x.load.path, line)
	}
	return fmt.Errorf("%s:%d: the file has changed since it was read: %w", x.load.path, line, why)
}

func (x *Indexed) parseRow(text []byte, line int) (aloneRow, error) {
	var r scannedRow
	if x.form.name == mooncakeTrace && r.scan(text) && r.has&hasInput != 0 {
		quick := r.row()
		quick.line = line
		if o := &x.load.options; o.MaxOSL > 0 && quick.turn.MaxTokens != nil && *quick.turn.MaxTokens > o.MaxOSL {
			*quick.turn.MaxTokens = o.MaxOSL
		}
		row := aloneRow{line: line, session: quick.session, kind: quick.kind, tokens: quick.tokens, ids: quick.ids,
			turns: []dataset.Turn{quick.asTurn()}}
		x.settle(&row)
		return row, nil
	}
	l := x.loads.Get().(*load)
	defer x.loads.Put(l)
	l.line, l.mistakes, l.mistaken, l.warnings = line, nil, 0, nil
	row, ok := l.lineAlone(x.form, text)
	switch {
	case !ok:
		return row, x.changed(line, errors.New(l.takeMistake()))
	case row.turns == nil:
		return row, x.changed(line, nil)
	}
	x.settle(&row)
	return row, nil
}

// settle applies what is asked of the times and lengths of a row.
func (x *Indexed) settle(row *aloneRow) {
	for t := range row.turns {
		turn := &row.turns[t]
		if x.origin != 0 && turn.TimestampMS != nil {
			at := *turn.TimestampMS - x.origin
			turn.TimestampMS = &at
		}
		if x.form.blockSize > 0 {
			x.load.options.Reshape.scaleTurn(turn)
		}
		if x.load.options.IgnoreTimes {
			turn.TimestampMS, turn.DelayMS = nil, nil
		}
	}
	row.at = math.NaN()
	if at := row.turns[0].TimestampMS; at != nil {
		row.at = *at
	}
}

// bitset is a set of numbers that knows how many of them are below another.
type bitset struct {
	words  []uint64
	counts []uint32 // before each word
}

func (b *bitset) set(i int) {
	for len(b.words) <= i/64 {
		b.words = append(b.words, 0)
	}
	b.words[i/64] |= 1 << (i % 64)
}

func (b *bitset) has(i int) bool { return i/64 < len(b.words) && b.words[i/64]>>(i%64)&1 == 1 }

// count prepares before, for numbers up to n.
func (b *bitset) count(n int) {
	for len(b.words) <= n/64 {
		b.words = append(b.words, 0)
	}
	b.counts = make([]uint32, len(b.words))
	for i := 1; i < len(b.words); i++ {
		b.counts[i] = b.counts[i-1] + uint32(bits.OnesCount64(b.words[i-1]))
	}
}

func (b *bitset) before(i int) int {
	if b.counts == nil {
		return 0
	}
	return int(b.counts[i/64]) + bits.OnesCount64(b.words[i/64]&(1<<(i%64)-1))
}
