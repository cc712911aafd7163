package loader

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/workload/dataset"
)

// indexer puts the chunks together.
type indexer struct {
	*load
	*Indexed
	keys keyTable
	kept []bool // by conversation, where a window is open
	// rowConv is the conversation of each row, first the row of each conversation. Both are empty as long as every row
	// is its own.
	rowConv, first ints
	kinds          []contentKind // of the rows of each conversation
	// What the orders that are known at the end are made of, by row.
	rowTimes floats
	// chatIDs, parents and orders are those of rows.
	chatIDs, parents, orders ints
	absent                   bitset
	earliest                 float64
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
	x.skipped += p.load.skipped
	x.skippedLines = append(x.skippedLines,
		p.load.skippedLines[:min(len(p.load.skippedLines), maxErrors-len(x.skippedLines))]...)
	p.chunk.row = x.count
	p.chunk.marks = slices.Clip(p.chunk.marks)
	x.chunks = append(x.chunks, p.chunk)
	for i := range p.rows {
		if x.mistaken == 0 {
			x.add(x.count+i, &p.rows[i])
		}
	}
	x.count += len(p.rows)
	if x.count > math.MaxInt32 {
		return fmt.Errorf("%s holds more than %d rows", x.load.path, math.MaxInt32)
	}
	return nil
}

// add notes a row; where the order is that of the file, its conversation is known at once.
func (x *indexer) add(row int, n *notedRow) {
	if x.form.order == fileOrder {
		x.addRow(row, n)
		return
	}
	x.rowTimes.add(n.at)
	if n.absent {
		x.absent.set(row)
	} else {
		x.countHeld(n)
	}
	switch x.form.order {
	case chatOrder:
		x.chatIDs.add(n.chat.chat)
		x.parents.add(n.chat.parent)
		x.orders.add(int64(n.chat.order))
	case timeOrder:
		if row == 0 || n.at < x.earliest {
			x.earliest = n.at
		}
	}
}

// countHeld adds what the turns of a row hold.
func (x *indexer) countHeld(n *notedRow) {
	if n.holds == nil {
		return
	}
	if n.holds == &onePrompt { // as most often
		x.holds.Prompts++
		return
	}
	x.holds = x.holds.Plus(*n.holds)
}

// leftOut is the conversation of rows that are left out, noRow where no row is known.
const (
	leftOut = -1
	noRow   = math.MaxUint32
)

// noKind is the kind of a conversation without rows.
const noKind = contentKind(math.MaxUint8)

// keeps reports whether a row lies in the window. A row of a trace without a time goes with the one of its session
// before it; conversations of other formats go with their first row.
func (x *indexer) keeps(n *notedRow, seen bool, known uint32) bool {
	w := x.load.options.Window
	switch {
	case n.absent:
		return false
	case w.open(), x.form.blockSize == 0 && !x.load.options.Scheduled:
		return true
	case x.form.blockSize == 0 && seen:
		return x.kept[known]
	case x.form.blockSize == 0:
		return math.IsNaN(n.at) || x.load.options.IgnoreTimes || w.Holds(n.at)
	case !math.IsNaN(n.at):
		return w.Holds(n.at)
	case seen:
		return x.kept[known]
	}
	return true
}

// addRow gives a row to its conversation. As long as every row is its own, nothing but its time is kept.
func (x *indexer) addRow(row int, n *notedRow) {
	known, seen := uint32(0), false
	named := n.key != 0
	if named {
		known, seen = x.keys.find(n.key)
	}
	keep := x.keeps(n, seen, known)
	if !keep && !n.absent && (x.form.blockSize > 0 || !seen) {
		x.dropped.outside++
	}
	if keep {
		x.countHeld(n)
		x.countTurns(row, n.turns)
		if n.number > 0 {
			x.taken = append(x.taken, n.number-1)
		}
	}
	if keep && !seen && x.rowConv.n == 0 {
		x.times.add(x.transformed(n.at))
		if named {
			x.keys.add(n.key, uint32(row))
			x.named.set(row)
			x.kinds = append(x.kinds, slices.Repeat([]contentKind{0}, row-len(x.kinds))...)
			x.kinds = append(x.kinds, n.kind)
		}
		return
	}
	if x.rowConv.n == 0 { // from here on rows and conversations differ
		for i := range row {
			x.rowConv.add(int64(i))
			x.first.add(int64(i))
		}
		x.kept = slices.Repeat([]bool{true}, row)
		x.kinds = append(x.kinds, slices.Repeat([]contentKind{0}, row-len(x.kinds))...)
	}
	conversation := int64(leftOut)
	switch {
	case n.absent:
	case seen:
		conversation = int64(known)
		x.kept[known] = keep
	case keep || named:
		conversation = int64(x.first.n)
		x.first.add(int64(row))
		x.kept = append(x.kept, keep)
		x.kinds = append(x.kinds, noKind)
		x.times.add(x.transformed(n.at))
		if named {
			x.keys.add(n.key, uint32(conversation))
			x.named.set(int(conversation))
		}
	}
	switch {
	case !keep:
		conversation = leftOut
	case x.kinds[conversation] == noKind:
		x.kinds[conversation] = n.kind
	case named && !sameKind(x.kinds[conversation], n.kind):
		x.mixed(row, x.kinds[conversation], n.kind)
	}
	x.rowConv.add(conversation)
}

// mixed refuses a row whose session has rows of another kind.
func (x *indexer) mixed(row int, first, next contentKind) {
	r, err := x.readRow(row)
	if err != nil {
		x.errorf("%v", err)
		return
	}
	x.load.line = r.line
	x.mixable(first, next, r.session)
}

// countTurns keeps the numbers of turns of rows once one has several.
func (x *indexer) countTurns(row int, turns uint32) {
	if turns == 1 && x.rowTurns.n == 0 {
		return
	}
	for x.rowTurns.n < row {
		x.rowTurns.add(1)
	}
	x.rowTurns.add(int64(turns))
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
	x.keys, x.kinds, x.kept = keyTable{}, nil, nil
	slices.Sort(x.taken)
	x.taken = slices.Compact(x.taken)
	if x.rowConv.n == 0 {
		x.named.count(x.count)
		x.sumTurns()
		return
	}
	conversations := x.first.n
	counts := make([]uint32, conversations)
	// A conversation whose first rows are left out begins with a later one: its place and time are that one's.
	firstKept := slices.Repeat([]uint32{noRow}, conversations)
	for row := range x.count {
		if c := x.rowConv.at(row); c != leftOut {
			counts[c]++
			firstKept[c] = min(firstKept[c], uint32(row))
		}
	}
	order := make([]uint32, 0, conversations)
	for c, row := range firstKept {
		if row != noRow {
			order = append(order, uint32(c))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return int(firstKept[a]) - int(firstKept[b]) })
	next := make([]uint32, conversations) // where the next row of each goes
	x.starts = make([]uint32, 1, len(order)+1)
	var times floats
	var named bitset
	for i, c := range order {
		next[c] = x.starts[i]
		x.starts = append(x.starts, x.starts[i]+counts[c])
		at := x.times.at(int(c))
		if int64(firstKept[c]) != x.first.at(int(c)) {
			at = math.NaN()
			if row, err := x.readRow(int(firstKept[c])); err == nil {
				at = row.at
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
	for row := range x.count {
		if c := x.rowConv.at(row); c != leftOut {
			x.list[next[c]] = uint32(row)
			next[c]++
		}
	}
	x.rowConv, x.first = ints{}, ints{}
	x.sumTurns()
}

// sumTurns adds up the turns before each conversation, where rows have several.
func (x *indexer) sumTurns() {
	if x.rowTurns.n == 0 {
		return
	}
	for x.rowTurns.n < x.count {
		x.rowTurns.add(1)
	}
	sum := int64(0)
	x.turnStarts.add(0)
	for i := range x.Len() {
		for k := range x.rowsOf(i) {
			sum += x.rowTurns.at(x.rowOf(i, k))
		}
		x.turnStarts.add(sum)
	}
	x.rowTurns = ints{}
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
		x.errorf("%s has no timestamp for its first turn, which a fixed schedule needs",
			conversationName(&dataset.Conversation{SessionID: row.session}))
	}
}
