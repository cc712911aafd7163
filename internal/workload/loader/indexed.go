package loader

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"sync"

	"aiperf/internal/workload/dataset"
)

// Indexed holds the conversations of rows. Where the rows stay in their file, every one was read and found right once;
// it is read again when its conversation is played. Then only times and places are in memory, some ten bytes a row.
type Indexed struct {
	rows    rowSource
	format  format
	options *Options
	path    string
	count   int // rows
	// contents are those of the turns.
	contents dataset.Contents
	// times are those of first turns, NaN where there is none; origin is taken off the times of rows, zero off what a
	// speed-up makes of them.
	times        Floats
	origin, zero float64
	// The rows of conversation i are list[starts[i]:starts[i+1]]; without a list row i is conversation i.
	starts, list []uint32
	// turnStarts are the turns before each conversation, where rows have several.
	turnStarts Ints
	// named are the conversations with an id of their own, taken the numbers of such ids as generated ones would have.
	named Set
	taken []int
	// rootIDs are the ids of conversations that are no row's; grown reports that turns may hold those before them.
	rootIDs    Ints
	cumulative bool
}

// rowSource is where rows are: in memory, or in their file.
type rowSource interface {
	// read returns row i as it was recorded; its turns may be changed.
	read(i int) (row, error)
}

// memoryRows are rows in memory, in pages, so that none is copied when their number grows.
type memoryRows struct{ pages [][]row }

const rowsOfPage = 256

func (m *memoryRows) add(r row) {
	if n := len(m.pages); n == 0 || len(m.pages[n-1]) == rowsOfPage {
		m.pages = append(m.pages, make([]row, 0, rowsOfPage))
	}
	last := &m.pages[len(m.pages)-1]
	*last = append(*last, r)
}

func (m *memoryRows) at(i int) *row { return &m.pages[i/rowsOfPage][i%rowsOfPage] }

func (m *memoryRows) read(i int) (row, error) { return *m.at(i), nil }

// fileRows are rows that are read again.
type fileRows struct {
	*Index
	readers sync.Pool // of *lineReader
}

func (f *fileRows) read(i int) (r row, err error) {
	l := f.readers.Get().(*lineReader)
	defer f.readers.Put(l)
	l.mistakes, l.mistaken, l.warnings = nil, 0, nil
	err = f.Index.Read(i, func(number int, line []byte) error {
		var ok bool
		switch r, ok = l.row(number, line); {
		case !ok:
			return Changed(l.path, number, errors.New(l.takeMistake()))
		case r.absent:
			return Changed(l.path, number, nil)
		}
		return nil
	})
	return r, err
}

// Len implements [dataset.Conversations].
func (x *Indexed) Len() int {
	if x.starts == nil {
		return x.count
	}
	return len(x.starts) - 1
}

// limit keeps the first n conversations. What turns hold is counted of all.
func (x *Indexed) limit(n int) {
	if x.starts == nil {
		x.count = n
		return
	}
	x.starts = x.starts[:n+1]
}

// rowsOf returns the number of rows of a conversation.
func (x *Indexed) rowsOf(i int) int {
	if x.starts == nil {
		return 1
	}
	return int(x.starts[i+1] - x.starts[i])
}

// TurnsOf implements [dataset.Conversations].
func (x *Indexed) TurnsOf(i int) int {
	if x.turnStarts.Len() > 0 {
		return int(x.turnStarts.At(i+1) - x.turnStarts.At(i))
	}
	return x.rowsOf(i)
}

// TurnsBefore returns the number of turns of all conversations before one.
func (x *Indexed) TurnsBefore(i int) int {
	switch {
	case x.turnStarts.Len() > 0:
		return int(x.turnStarts.At(i))
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
func (x *Indexed) Count(dataset.ContextMode) dataset.Contents { return x.contents }

// Time implements [dataset.Conversations]. First turns, whose delays mean nothing, are not read again.
func (x *Indexed) Time(conversation, turn int) (atMS, delayMS *float64) {
	if turn > 0 {
		return x.At(conversation).Turns[turn].Time()
	}
	if at := x.times.At(conversation); !math.IsNaN(at) {
		return &at, nil
	}
	return nil, nil
}

// Number returns which of the generated ids a conversation without an id of its own has.
func (x *Indexed) Number(i int) int {
	n := i - x.named.Before(i)
	// Below taken number k are taken[k]-k free ones.
	return n + sort.Search(len(x.taken), func(k int) bool { return x.taken[k]-k > n })
}

func (x *Indexed) rowOf(i, k int) int {
	if x.list == nil {
		return i
	}
	return int(x.list[int(x.starts[i])+k])
}

// At implements [dataset.Conversations]. It reads the rows of the conversation.
func (x *Indexed) At(i int) *dataset.Conversation {
	n := x.rowsOf(i)
	c := &dataset.Conversation{Turns: make([]dataset.Turn, 0, x.TurnsOf(i))}
	holdsPast := x.cumulative && n > 1
	var before []int64
	for k := range n {
		r, err := x.rows.read(x.rowOf(i, k))
		if err != nil {
			c.Broken = err
			continue
		}
		if k > 0 && x.rootIDs.Len() == 0 && r.session != c.SessionID {
			c.Broken = Changed(x.path, r.line, fmt.Errorf("the sessions %q and %q are taken for one",
				shorten(c.SessionID), shorten(r.session)))
		}
		c.SessionID = r.session
		c.Turns = r.turns(c.Turns)
		if r.kind == messageList || r.kind == wholePayload {
			c.ContextMode = dataset.MessageArrayWithResponses
		}
		holdsPast = holdsPast && (k == 0 || extends(before, r.ids))
		before = r.ids
	}
	if holdsPast {
		c.ContextMode = dataset.MessageArrayWithResponses
	}
	if x.rootIDs.Len() > 0 {
		c.SessionID = strconv.FormatInt(x.rootIDs.At(i), 10)
	}
	if missing := x.TurnsOf(i) - len(c.Turns); missing != 0 {
		if c.Broken == nil {
			c.Broken = Changed(x.path, 0, nil)
		}
		c.Turns = append(c.Turns, make([]dataset.Turn, max(0, missing))...)[:x.TurnsOf(i)]
	}
	for t := range c.Turns {
		x.adjust(&c.Turns[t])
	}
	if x.options.StripImages {
		stripImages(c)
	}
	return c
}

// adjust applies what is asked of the times and lengths of a turn.
func (x *Indexed) adjust(t *dataset.Turn) {
	if x.origin != 0 && t.TimestampMS != nil {
		at := *t.TimestampMS - x.origin
		t.TimestampMS = &at
	}
	x.options.Reshape.scaleTurn(t)
	if x.zero != 0 && t.TimestampMS != nil {
		at := *t.TimestampMS - x.zero
		t.TimestampMS = &at
	}
	if x.options.IgnoreTimes {
		t.TimestampMS, t.DelayMS = nil, nil
	}
}

// timeOf returns the time of a first turn that was recorded at an instant.
func (x *Indexed) timeOf(at float64) float64 {
	if x.options.IgnoreTimes {
		return noTime
	}
	at -= x.origin
	if s := x.options.Reshape; s != nil && s.Speedup != 0 {
		return math.Trunc(at / s.Speedup)
	}
	return at
}
