package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A trace that is larger than this is not kept in memory: an index says where its rows are.
const indexFrom = 32 << 20

const (
	chunkBytes = 4 << 20
	// markEvery is the number of rows between two places that the index keeps.
	markEvery = 16
)

// errNotIndexed tells that a trace holds rows that only the reader of whole files knows.
var errNotIndexed = errors.New("the trace is read as a whole")

// indexable tells whether the rows of a file can be left where they are.
func (l *load) indexable() bool {
	least := int64(indexFrom)
	if l.options.IndexFrom > 0 {
		least = l.options.IndexFrom
	}
	info, err := os.Stat(l.path)
	s := l.options.Reshape
	return l.format == mooncakeTrace && err == nil && info.Mode().IsRegular() && info.Size() >= least && !strings.HasSuffix(l.path, ".gz") &&
		(s == nil || s.PrefixLen == 1 && s.PromptLen == 1 && s.PrefixRoots <= 1)
}

// chunkSize is small where small files are indexed.
func (l *load) chunkSize() int {
	const least = 1 << 9
	if n := l.options.IndexFrom; n > 0 && n < chunkBytes {
		return max(least, int(n))
	}
	return chunkBytes
}

// mark is the place of a row: where its line begins in the chunk, and which it is there.
type mark struct{ offset, line uint32 }

// chunk is a stretch of whole lines.
type chunk struct {
	offset, bytes int64
	// line is the number of its first line, row that of its first row, both from 0.
	line, row int
	marks     []mark
}

// sessionKey stands for a session id: two hashes of it.
type sessionKey [2]uint64

// parsed is what a chunk says of its rows.
type parsed struct {
	chunk
	load *load // with what was noted of the chunk alone
	rows int
	// Columns of the rows; times is NaN where there is none, sessions is nil if no row has one.
	times    []float64
	sessions []sessionKey
	made     bool
	err      error
	done     chan struct{}
}

// indexer puts the chunks together.
type indexer struct {
	*load
	*Indexed
	keys    map[sessionKey]uint32
	kept    []bool // by conversation, where a window is open
	rowConv []uint32
	// first is the row of each conversation.
	first []uint32
}

// index reads a whole trace, checks every row, and keeps where the rows are.
func (l *load) index() (*Indexed, error) {
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	x := &indexer{load: l, Indexed: newIndexed(l, file), keys: map[sessionKey]uint32{}}
	if err := x.readAll(file); err != nil {
		file.Close()
		return nil, err
	}
	if l.mistaken > 0 || x.count == 0 && l.dropped == (dropped{}) {
		file.Close()
		return nil, nil
	}
	x.group()
	x.checkTimes()
	return x.Indexed, nil
}

// readAll has the chunks parsed on all cores and takes them in order.
func (x *indexer) readAll(file *os.File) error {
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	tasks, order := make(chan task), make(chan *parsed, 2*workers)
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	pool := &sync.Pool{New: func() any { b := make([]byte, 0, chunkBytes); return &b }}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for t := range tasks {
				t.parse(x.load, seeds)
				pool.Put(t.text)
				close(t.done)
			}
		})
	}
	var readErr error
	group.Go(func() {
		defer close(tasks)
		defer close(order)
		readErr = splitLines(ctx, file, x.load.chunkSize(), pool, func(text *[]byte, c chunk) bool {
			p := &parsed{chunk: c, done: make(chan struct{})}
			for _, wait := range []func() bool{
				func() bool { return put(ctx, order, p) }, func() bool { return put(ctx, tasks, task{p, text}) },
			} {
				if !wait() {
					return false
				}
			}
			return true
		})
	})
	var err error
	for p := range order {
		if err != nil {
			continue
		}
		select {
		case <-p.done:
			err = x.take(p)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			cancel()
		}
	}
	group.Wait()
	if err == nil {
		err = readErr
	}
	if err != nil && x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	return err
}

func put[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// splitLines cuts a file into stretches of whole lines.
func splitLines(ctx context.Context, in io.Reader, size int, pool *sync.Pool, f func(*[]byte, chunk) bool) error {
	var rest []byte
	offset, line := int64(0), 0
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := pool.Get().(*[]byte)
		*text = append((*text)[:0], rest...)
		have := len(*text)
		room := max(size, have+size/4)
		*text = slices.Grow(*text, room-have)
		n, err := io.ReadFull(in, (*text)[have:room])
		*text = (*text)[:have+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return err
		}
		if first && bytes.HasPrefix(*text, []byte("\ufeff")) {
			*text = (*text)[:copy(*text, (*text)[3:])]
			offset = 3
		}
		cut := len(*text)
		if !end {
			cut = bytes.LastIndexByte(*text, '\n') + 1
		}
		rest = append(rest[:0], (*text)[cut:]...)
		*text = (*text)[:cut]
		if cut > 0 && !f(text, chunk{offset: offset, bytes: int64(cut), line: line}) {
			return ctx.Err()
		}
		line += bytes.Count(*text, []byte{'\n'})
		offset += int64(cut)
		if end {
			return nil
		}
	}
}

// task is a chunk to parse.
type task struct {
	*parsed
	text *[]byte
}

func (t task) parse(whole *load, seeds [2]maphash.Seed) {
	l := &load{
		ctx: whole.ctx, path: whole.path, format: whole.format, options: whole.options, blockSize: whole.blockSize,
		sessions: map[string]int{}, unknown: map[string]bool{},
	}
	t.load = l
	r := scannedRow{ignoresMember: func(key []byte) bool { return l.unknown[string(key)] }}
	t.line = t.parsed.chunk.line
	text := *t.text
	t.times = make([]float64, 0, len(text)/100)
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
		if t.rows%markEvery == 0 {
			t.marks = append(t.marks, mark{uint32(start), uint32(number - 1 - t.line)})
		}
		if t.err = t.row(&r, line, seeds); t.err != nil {
			return
		}
		t.rows++
	}
}

// row notes what is kept of a row. The rows of the common shape are not taken apart any further.
func (p *parsed) row(r *scannedRow, line []byte, seeds [2]maphash.Seed) error {
	var at float64
	var session []byte
	tokens, ids, limit := 0, 0, 0
	if r.scan(line) && r.has&hasInput != 0 {
		at, session, tokens, ids = math.NaN(), r.session, r.input, len(r.ids)
		if r.has&hasTimestamp != 0 {
			at = r.timestamp
		}
		if r.has&hasOutput != 0 {
			limit = r.output
		}
	} else {
		before := p.load.mistaken
		o, id, ok := p.load.row(line, mooncakeKeys)
		var row traceRow
		if ok {
			if err := row.mooncakeFields(o); err != nil {
				p.load.errorf("%v", err)
			} else if row.kind.verbatim() {
				return errNotIndexed
			}
		}
		if p.load.mistaken > before {
			p.note(math.NaN(), nil, seeds)
			return nil
		}
		at, session, tokens, ids = math.NaN(), []byte(id), row.tokens, len(row.ids)
		if row.turn.TimestampMS != nil {
			at = *row.turn.TimestampMS
		}
		if row.turn.MaxTokens != nil {
			limit = *row.turn.MaxTokens
		}
	}
	p.load.checkFit(tokens, ids)
	o := &p.load.options
	if o.MaxISL > 0 && tokens > o.MaxISL {
		p.load.dropped.long++
		at = math.Inf(1)
	} else if o.MaxOSL > 0 && limit > o.MaxOSL {
		p.load.dropped.capped++
	}
	p.made = p.made || tokens > 0
	p.note(at, session, seeds)
	return nil
}

// note keeps the columns of a row. A time without end marks a row that is left out.
func (p *parsed) note(at float64, session []byte, seeds [2]maphash.Seed) {
	p.times = append(p.times, at)
	if len(session) == 0 && p.sessions == nil {
		return
	}
	for len(p.sessions) < len(p.times)-1 {
		p.sessions = append(p.sessions, sessionKey{})
	}
	if len(session) == 0 {
		p.sessions = append(p.sessions, sessionKey{})
		return
	}
	p.sessions = append(p.sessions, sessionKey{maphash.Bytes(seeds[0], session), maphash.Bytes(seeds[1], session)})
	if number, ok := bytes.CutPrefix(session, []byte("session_")); ok && len(number) >= 6 {
		if n, err := strconv.Atoi(string(number)); err == nil && n >= 0 && fmt.Sprintf("%06d", n) == string(number) {
			p.load.takenNumbers = append(p.load.takenNumbers, n)
		}
	}
}

// take adds a chunk behind those before it.
func (x *indexer) take(p *parsed) error {
	if p.err != nil {
		return p.err
	}
	x.mistaken += p.load.mistaken
	x.mistakes = append(x.mistakes, p.load.mistakes[:min(len(p.load.mistakes), max(0, maxErrors-len(x.mistakes)))]...)
	for _, u := range p.load.unknownAt {
		x.load.line = u.line
		x.warnUnknown(u.key)
	}
	x.dropped.long += p.load.dropped.long
	x.dropped.capped += p.load.dropped.capped
	x.taken = append(x.taken, p.load.takenNumbers...)
	x.made = x.made || p.made
	p.chunk.row = x.count
	p.chunk.marks = slices.Clip(p.chunk.marks)
	x.chunks = append(x.chunks, p.chunk)
	if x.mistaken > 0 {
		x.count += p.rows
		return nil
	}
	for i, at := range p.times {
		key := sessionKey{}
		if p.sessions != nil {
			key = p.sessions[i]
		}
		x.addRow(x.count+i, at, key)
	}
	x.count += p.rows
	if x.count > math.MaxInt32 {
		return fmt.Errorf("%s holds more than %d rows", x.load.path, math.MaxInt32)
	}
	return nil
}

// leftOut is the conversation of rows that are left out.
const leftOut = math.MaxUint32

// addRow gives a row to its conversation. As long as every row is its own, nothing but its time is kept.
func (x *indexer) addRow(row int, at float64, key sessionKey) {
	keep := !math.IsInf(at, 1)
	known := uint32(0)
	seen := false
	if key != (sessionKey{}) {
		known, seen = x.keys[key]
	}
	if keep && !x.load.options.Window.open() {
		if keep = true; !math.IsNaN(at) {
			keep = x.load.options.Window.holds(at)
		} else if seen {
			keep = x.kept[known]
		}
		if !keep {
			x.dropped.outside++
		}
	}
	if key == (sessionKey{}) && keep && x.rowConv == nil {
		x.times.add(x.transformed(at))
		return
	}
	if x.rowConv == nil { // from here on rows and conversations differ
		for i := range row {
			x.rowConv = append(x.rowConv, uint32(i))
			x.first = append(x.first, uint32(i))
		}
		x.kept = make([]bool, row)
	}
	conversation := uint32(leftOut)
	switch {
	case seen:
		conversation = known
		x.kept[known] = keep
	case keep || key != (sessionKey{}):
		conversation = uint32(len(x.first))
		x.first = append(x.first, uint32(row))
		x.kept = append(x.kept, keep)
		x.times.add(x.transformed(at))
		if key != (sessionKey{}) {
			x.keys[key] = conversation
			x.named.set(int(conversation))
		}
	}
	if !keep {
		conversation = leftOut
	}
	x.rowConv = append(x.rowConv, conversation)
}

func (x *indexer) transformed(at float64) float64 {
	s := x.load.options.Reshape
	if x.load.options.IgnoreTimes {
		return math.NaN()
	}
	if s != nil && s.Speedup != 0 {
		return math.Trunc(at / s.Speedup)
	}
	return at
}

// group lists the rows of each conversation. Conversations of whose rows none is kept vanish.
func (x *indexer) group() {
	if x.rowConv == nil {
		return
	}
	counts := make([]uint32, len(x.first)+1)
	for _, c := range x.rowConv {
		if c != leftOut {
			counts[c]++
		}
	}
	// A conversation whose first rows are left out begins with a later one: its place and time are that one's.
	firstKept := make([]uint32, len(x.first))
	for i := range firstKept {
		firstKept[i] = leftOut
	}
	for row, c := range x.rowConv {
		if c != leftOut && firstKept[c] == leftOut {
			firstKept[c] = uint32(row)
		}
	}
	var order []uint32
	for c, row := range firstKept {
		if row != leftOut {
			order = append(order, uint32(c))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return int(firstKept[a]) - int(firstKept[b]) })
	place := make([]uint32, len(x.first))
	x.starts = make([]uint32, 1, len(order)+1)
	var times floats
	var named bitset
	for i, c := range order {
		place[c] = uint32(i)
		x.starts = append(x.starts, x.starts[i]+counts[c])
		at := x.times.at(int(c))
		if firstKept[c] != x.first[c] {
			at = math.NaN()
			if row, err := x.readRow(int(firstKept[c])); err == nil && row.turn.TimestampMS != nil {
				at = *row.turn.TimestampMS
			}
		}
		times.add(at)
		if x.named.has(int(c)) {
			named.set(i)
		}
	}
	x.times, x.named = times, named
	x.named.count(len(order))
	x.list = make([]uint32, x.starts[len(order)])
	next := slices.Clone(x.starts)
	for row, c := range x.rowConv {
		if c != leftOut {
			x.list[next[place[c]]] = uint32(row)
			next[place[c]]++
		}
	}
	slices.Sort(x.taken)
	x.taken = slices.Compact(x.taken)
}

// checkTimes refuses conversations that a schedule cannot place.
func (x *indexer) checkTimes() {
	if !x.load.options.Scheduled {
		return
	}
	for i := range x.Len() {
		if !math.IsNaN(x.times.at(i)) {
			continue
		}
		row, err := x.readRow(x.rowOf(i, 0))
		if err != nil {
			x.errorf("%v", err)
			return
		}
		x.load.line = row.line
		name := "the conversation"
		if row.session != "" {
			name = fmt.Sprintf("the conversation %q", shorten(row.session))
		}
		x.errorf("%s has no timestamp for its first turn, which a fixed schedule needs", name)
	}
}
