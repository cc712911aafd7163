package loader

import (
	"math"
	"slices"
	"time"
)

// grouping finds the conversations of rows, which are added in their order.
type grouping struct {
	*Indexed
	faults *faults
	keys   Keys
	kept   []bool // by conversation: whether its last row was
	// rowConv is the conversation of each row, first the row of each conversation. Both are empty as long as every row
	// is its own.
	rowConv, first Ints
	kinds          []contentKind // of the rows of each conversation
	mixed          []mixedRow
	// rowTurns are the turns of each row, where one has several.
	rowTurns Ints
	// What the orders that are known at the end are made of, by row.
	rowTimes                 Floats
	chatIDs, parents, orders Ints
	absent                   Set
	earliest                 float64
}

// add notes the next row; where the order is that of the file, its conversation is known at once.
func (x *grouping) add(n *notedRow) {
	row := x.count
	x.count++
	if math.IsNaN(x.earliest) || n.at < x.earliest {
		x.earliest = n.at
	}
	if x.format.order == fileOrder {
		x.addRow(row, n)
		return
	}
	x.rowTimes.Add(n.at)
	if n.absent {
		x.absent.Add(row)
	} else {
		x.countContents(n)
	}
	switch x.format.order {
	case chatOrder:
		x.chatIDs.Add(n.chat.chat)
		x.parents.Add(n.chat.parent)
		x.orders.Add(int64(n.chat.order))
	}
}

// finish makes the conversations when all rows are there.
func (x *grouping) finish() {
	if x.faults.mistaken == 0 {
		x.refuseMixed()
	}
	if x.faults.mistaken == 0 {
		switch x.format.order {
		case fileOrder:
			x.group()
		case timeOrder:
			x.groupByTime()
		case chatOrder:
			x.groupChats()
		}
	}
	if x.faults.mistaken == 0 {
		x.countFromFirst()
		x.checkTimes()
	}
}

// unixMS is the time from which times in milliseconds are those of the clock: no recording is three years long.
const unixMS = 1e11

// countFromFirst lets the times of the clock count from the earliest, as a schedule needs them, unless the user's
// window says where it begins.
func (x *grouping) countFromFirst() {
	if !x.options.Scheduled || x.options.IgnoreTimes || !x.options.Window.open() || x.origin != 0 ||
		!(x.earliest >= unixMS) {
		return
	}
	x.faults.notef("the times of %s are those of the clock: they count from the earliest, %s", x.path,
		time.UnixMilli(int64(x.earliest)).UTC().Format(time.RFC3339))
	x.zero = x.timeOf(x.earliest)
	var times Floats
	for i := range x.Len() {
		times.Add(x.times.At(i) - x.zero)
	}
	x.times = times
}

// countContents adds what the turns of a row hold.
func (x *grouping) countContents(n *notedRow) {
	switch n.contents {
	case nil:
	case &onePrompt: // as most often
		x.contents.Prompts++
	default:
		x.contents = x.contents.Plus(*n.contents)
	}
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
func (x *grouping) keeps(n *notedRow, seen bool, known uint32) bool {
	w := x.options.Window
	switch {
	case n.absent:
		return false
	case w.open(), x.format.blockSize == 0 && !x.options.Scheduled:
		return true
	case x.format.blockSize == 0 && seen:
		return x.isKept(known)
	case x.format.blockSize == 0:
		return math.IsNaN(n.at) || x.options.IgnoreTimes || w.Holds(n.at)
	case !math.IsNaN(n.at):
		return w.Holds(n.at)
	case seen:
		return x.isKept(known)
	}
	return true
}

// isKept reports whether the last row of a conversation was kept: all were, as long as every row is its own.
func (x *grouping) isKept(conversation uint32) bool {
	return x.rowConv.Len() == 0 || x.kept[conversation]
}

// addRow gives a row to its conversation. As long as every row is its own, nothing but its time is kept.
func (x *grouping) addRow(row int, n *notedRow) {
	known, seen := uint32(0), false
	named := n.key != 0
	if named {
		known, seen = x.keys.Find(n.key)
	}
	keep := x.keeps(n, seen, known)
	if !keep && !n.absent && (x.format.blockSize > 0 || !seen) {
		x.faults.dropped.outside++
	}
	if keep {
		x.countContents(n)
		x.countTurns(row, n.turns)
		if n.number > 0 {
			x.taken = append(x.taken, n.number-1)
		}
	}
	if keep && !seen && x.rowConv.Len() == 0 {
		x.times.Add(x.timeOf(n.at))
		if named {
			x.keys.Add(n.key, uint32(row))
			x.named.Add(row)
			x.kinds = append(x.kinds, slices.Repeat([]contentKind{0}, row-len(x.kinds))...)
			x.kinds = append(x.kinds, n.kind)
		}
		return
	}
	if x.rowConv.Len() == 0 { // from here on rows and conversations differ
		for i := range row {
			x.rowConv.Add(int64(i))
			x.first.Add(int64(i))
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
		conversation = int64(x.first.Len())
		x.first.Add(int64(row))
		x.kept = append(x.kept, keep)
		x.kinds = append(x.kinds, noKind)
		x.times.Add(x.timeOf(n.at))
		if named {
			x.keys.Add(n.key, uint32(conversation))
			x.named.Add(int(conversation))
		}
	}
	switch {
	case !keep:
		conversation = leftOut
	case x.kinds[conversation] == noKind:
		x.kinds[conversation] = n.kind
	case named && !sameKind(x.kinds[conversation], n.kind):
		x.mixed = append(x.mixed, mixedRow{row, x.kinds[conversation], n.kind})
	}
	x.rowConv.Add(conversation)
}

// mixedRow is a row whose session has rows of another kind.
type mixedRow struct {
	row         int
	first, next contentKind
}

// refuseMixed refuses rows whose sessions have rows of another kind.
func (x *grouping) refuseMixed() {
	for i, m := range x.mixed {
		session := ""
		if i < maxErrors {
			r, err := x.rows.read(m.row)
			if err != nil {
				x.faults.errorf("%v", err)
				continue
			}
			x.faults.line, session = r.line, r.session
		}
		if (m.first == messageDelta) != (m.next == messageDelta) && m.first.verbatim() && m.next.verbatim() {
			x.faults.errorf(`field "message_mode": every row of the session %q must say delta, or none`,
				shorten(session))
		} else {
			x.faults.errorf("the session %q mixes rows that bring their messages with rows whose text is made or given",
				shorten(session))
		}
	}
}

// countTurns keeps the numbers of turns of rows once one has several.
func (x *grouping) countTurns(row int, turns uint32) {
	if turns == 1 && x.rowTurns.Len() == 0 {
		return
	}
	for x.rowTurns.Len() < row {
		x.rowTurns.Add(1)
	}
	x.rowTurns.Add(int64(turns))
}

// group lists the rows of each conversation. Conversations of whose rows none is kept vanish.
func (x *grouping) group() {
	x.keys, x.kinds, x.kept = Keys{}, nil, nil
	slices.Sort(x.taken)
	x.taken = slices.Compact(x.taken)
	if x.rowConv.Len() == 0 {
		x.named.Count(x.count)
		x.sumTurns()
		return
	}
	conversations := x.first.Len()
	counts := make([]uint32, conversations)
	// A conversation whose first rows are left out begins with a later one: its place and time are that one's.
	firstKept := slices.Repeat([]uint32{noRow}, conversations)
	for row := range x.count {
		if c := x.rowConv.At(row); c != leftOut {
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
	var times Floats
	var named Set
	for i, c := range order {
		next[c] = x.starts[i]
		x.starts = append(x.starts, x.starts[i]+counts[c])
		at := x.times.At(int(c))
		if int64(firstKept[c]) != x.first.At(int(c)) {
			at = noTime
			if row, err := x.rows.read(int(firstKept[c])); err == nil {
				at = x.timeOf(row.at())
			}
		}
		times.Add(at)
		if x.named.Has(int(c)) {
			named.Add(i)
		}
	}
	x.times, x.named = times, named
	x.named.Count(len(order))
	x.list = make([]uint32, x.starts[len(order)])
	for row := range x.count {
		if c := x.rowConv.At(row); c != leftOut {
			x.list[next[c]] = uint32(row)
			next[c]++
		}
	}
	x.rowConv, x.first = Ints{}, Ints{}
	x.sumTurns()
}

// sumTurns adds up the turns before each conversation, where rows have several.
func (x *grouping) sumTurns() {
	if x.rowTurns.Len() == 0 {
		return
	}
	for x.rowTurns.Len() < x.count {
		x.rowTurns.Add(1)
	}
	sum := int64(0)
	x.turnStarts.Add(0)
	for i := range x.Len() {
		for k := range x.rowsOf(i) {
			sum += x.rowTurns.At(x.rowOf(i, k))
		}
		x.turnStarts.Add(sum)
	}
	x.rowTurns = Ints{}
}

// checkTimes refuses conversations that a schedule cannot place.
func (x *grouping) checkTimes() {
	if !x.options.Scheduled {
		return
	}
	for i := range x.Len() {
		if !math.IsNaN(x.times.At(i)) {
			continue
		}
		row, err := x.rows.read(x.rowOf(i, 0))
		if err != nil {
			x.faults.errorf("%v", err)
			return
		}
		x.faults.line = row.line
		x.faults.refuseUntimed(row.session)
	}
}
