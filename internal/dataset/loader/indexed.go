package loader

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"sync"

	"aiperf/internal/dataset"
)

// Indexed is a trace whose rows stay in the file. Every row was read and found right once; it is read again when its
// conversation is played. Only times and places are in memory, some ten bytes a row.
type Indexed struct {
	load   *load
	file   *os.File
	count  int
	chunks []chunk
	made   bool
	// times are those of first turns, NaN where there is none.
	times floats
	// The rows of conversation i are list[starts[i]:starts[i+1]]; without a list row i is conversation i.
	starts, list []uint32
	// named are the conversations with an id of their own, taken the numbers of such ids as generated ones would have.
	named   bitset
	taken   []int
	buffers sync.Pool
}

func newIndexed(l *load, file *os.File) *Indexed {
	return &Indexed{load: l, file: file, buffers: sync.Pool{New: func() any { return new([]byte) }}}
}

// Len is the number of conversations.
func (x *Indexed) Len() int {
	if x.starts == nil {
		return x.count
	}
	return len(x.starts) - 1
}

// Turns is the number of turns of a conversation.
func (x *Indexed) Turns(i int) int {
	if x.starts == nil {
		return 1
	}
	return int(x.starts[i+1] - x.starts[i])
}

// TurnsBefore is the number of turns of all conversations before one.
func (x *Indexed) TurnsBefore(i int) int {
	if x.starts == nil {
		return i
	}
	return int(x.starts[i])
}

// AllTurns is the number of turns of all conversations.
func (x *Indexed) AllTurns() int { return x.TurnsBefore(x.Len()) }

// MakesPrompts tells whether there are such texts.
func (x *Indexed) MakesPrompts() bool { return x.made }

// FirstMS is the time of a first turn.
func (x *Indexed) FirstMS(i int) *float64 {
	at := x.times.at(i)
	if math.IsNaN(at) {
		return nil
	}
	return &at
}

// Number is which of the generated ids a conversation without an id of its own has.
func (x *Indexed) Number(i int) int {
	n := i - x.named.before(i)
	for _, taken := range x.taken {
		if taken > n {
			break
		}
		n++
	}
	return n
}

func (x *Indexed) rowOf(i, turn int) int {
	if x.list == nil {
		return i
	}
	return int(x.list[int(x.starts[i])+turn])
}

// Conversation reads a conversation.
func (x *Indexed) Conversation(i int) *dataset.Conversation {
	c := &dataset.Conversation{Turns: make([]dataset.Turn, x.Turns(i))}
	for t := range c.Turns {
		row, err := x.readRow(x.rowOf(i, t))
		if err != nil {
			c.Broken = err
			continue
		}
		c.SessionID = row.session
		c.Turns[t] = row.asTurn()
	}
	return c
}

// readRow reads a row again.
func (x *Indexed) readRow(number int) (row traceRow, err error) {
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
	line := c.line + int(c.marks[m].line)
	for skip := (number - c.row) % markEvery; ; {
		line++
		text, rest, more := bytes.Cut(*buffer, []byte{'\n'})
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if skip == 0 {
				return x.parseRow(text, line)
			}
			skip--
		}
		if !more {
			return row, fmt.Errorf("%s:%d: the file has changed since it was read", x.load.path, line)
		}
		*buffer = rest
	}
}

func (x *Indexed) parseRow(text []byte, line int) (row traceRow, err error) {
	var r scannedRow
	if r.scan(text) && r.has&hasInput != 0 {
		row = r.row()
	} else {
		o, err := parseObject(text)
		if err == nil {
			row.session, err = o.text("session_id")
		}
		if err == nil {
			err = row.mooncakeFields(o)
		}
		if err != nil {
			return row, fmt.Errorf("%s:%d: the file has changed since it was read: %w", x.load.path, line, err)
		}
	}
	row.line = line
	o := &x.load.options
	if n := row.turn.MaxTokens; n != nil && o.MaxOSL > 0 && *n > o.MaxOSL {
		*n = o.MaxOSL
	}
	o.Reshape.scaleTurn(&row.turn)
	if o.IgnoreTimes {
		row.turn.TimestampMS, row.turn.DelayMS = nil, nil
	}
	return row, nil
}

// floats is a column that grows without being copied.
type floats struct {
	pages [][]float64
	n     int
}

const pageSize = 1 << 16

func (f *floats) add(v float64) {
	if f.n%pageSize == 0 {
		f.pages = append(f.pages, make([]float64, 0, pageSize))
	}
	last := len(f.pages) - 1
	f.pages[last] = append(f.pages[last], v)
	f.n++
}

func (f *floats) at(i int) float64 { return f.pages[i/pageSize][i%pageSize] }

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
