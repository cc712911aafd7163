package loader

import (
	"cmp"
	"slices"
)

// rowOrder says when the place of a row among all is known.
type rowOrder uint8

const (
	// fileOrder: as soon as it is read.
	fileOrder rowOrder = iota
	// timeOrder: when all times are; each row is a conversation, times count from the earliest.
	timeOrder
	// chatOrder: when all parents are.
	chatOrder
)

// groupByTime puts the rows in the order of their times.
func (x *grouping) groupByTime() {
	w := x.options.Window
	for row := range x.count {
		if x.absent.Has(row) {
			continue
		}
		if !w.open() && !w.Holds(x.rowTimes.At(row)-x.earliest) {
			x.faults.dropped.outside++
			continue
		}
		x.list = append(x.list, uint32(row))
	}
	slices.SortStableFunc(x.list, func(a, b uint32) int {
		return cmp.Compare(x.rowTimes.At(int(a)), x.rowTimes.At(int(b)))
	})
	x.origin = x.earliest
	x.starts = make([]uint32, len(x.list)+1)
	for i, row := range x.list {
		x.starts[i+1] = uint32(i + 1)
		x.times.Add(x.timeOf(x.rowTimes.At(int(row))))
	}
	x.named.Count(len(x.list))
	x.rowTimes = Floats{}
}

// groupChats finds the root of each chat; the chats of one root are a conversation.
func (x *grouping) groupChats() {
	byChat := make([]uint32, x.count)
	sorted := true
	for i := range byChat {
		byChat[i] = uint32(i)
		sorted = sorted && (i == 0 || x.chatIDs.At(i-1) < x.chatIDs.At(i))
	}
	if !sorted {
		slices.SortFunc(byChat, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(x.chatIDs.At(int(a)), x.chatIDs.At(int(b))), cmp.Compare(a, b))
		})
	}
	if x.refuseTwins(byChat); x.faults.mistaken > 0 {
		return
	}
	find := func(chat int64) (uint32, bool) {
		at, ok := slices.BinarySearchFunc(byChat, chat,
			func(row uint32, chat int64) int { return cmp.Compare(x.chatIDs.At(int(row)), chat) })
		if !ok {
			return 0, false
		}
		return byChat[at], true
	}
	roots := slices.Repeat([]uint32{noRow}, x.count)
	for row := range x.count {
		x.findRoot(uint32(row), roots, find)
	}
	x.parents = Ints{}
	x.listChats(roots, byChat)
	x.chatIDs, x.orders, x.rowTimes = Ints{}, Ints{}, Floats{}
}

// refuseTwins refuses rows whose chat an earlier row has.
func (x *grouping) refuseTwins(byChat []uint32) {
	type twin struct{ row, first uint32 }
	var twins []twin
	chat := func(i int) int64 { return x.chatIDs.At(int(byChat[i])) }
	for i := 1; i < len(byChat); i++ {
		first := i - 1
		for i < len(byChat) && chat(i) == chat(first) {
			twins = append(twins, twin{byChat[i], byChat[first]})
			i++
		}
	}
	slices.SortFunc(twins, func(a, b twin) int { return int(a.row) - int(b.row) })
	for i, t := range twins {
		if i < maxErrors {
			if row, err := x.rows.read(int(t.row)); err == nil {
				x.faults.line = row.line
			}
		}
		x.faults.chatTwice(x.chatIDs.At(int(t.row)), x.parents.At(int(t.first)))
	}
}

// findRoot walks up the parents. A missing parent, a chat that is its own parent and a cycle end the walk.
func (x *grouping) findRoot(row uint32, roots []uint32, find func(int64) (uint32, bool)) {
	const walking = noRow - 1 // a row of the path
	var path []uint32
	for roots[row] == noRow {
		roots[row] = walking
		path = append(path, row)
		parent, ok := find(x.parents.At(int(row)))
		if !ok || roots[parent] == walking {
			break
		}
		row = parent
	}
	root := row
	if roots[row] < walking {
		root = roots[row]
	}
	for _, r := range path {
		roots[r] = root
	}
}

// listChats makes conversations of the rows of each root: in the order of their first rows, each sorted by turn. number
// is room for as many values as there are rows.
func (x *grouping) listChats(roots, number []uint32) {
	for i := range number { // the conversation of a root
		number[i] = noRow
	}
	conversations := uint32(0)
	for row, root := range roots {
		if !x.absent.Has(row) && number[root] == noRow {
			number[root] = conversations
			conversations++
		}
	}
	w, sizes := x.options.Window, make([]uint32, conversations)
	keeps := func(row int) bool {
		return !x.absent.Has(row) && (w.open() || w.Holds(x.rowTimes.At(row)))
	}
	for row, root := range roots {
		switch {
		case keeps(row):
			sizes[number[root]]++
		case !x.absent.Has(row):
			x.faults.dropped.outside++
		}
	}
	next, at := make([]uint32, conversations), uint32(0)
	x.starts = make([]uint32, 1, conversations+1)
	for c, n := range sizes {
		next[c] = at
		if at += n; n > 0 {
			x.starts = append(x.starts, at)
		}
	}
	x.list = make([]uint32, at)
	for row, root := range roots {
		if keeps(row) {
			c := number[root]
			x.list[next[c]] = uint32(row)
			next[c]++
		}
	}
	for i := range x.Len() {
		rows := x.list[x.starts[i]:x.starts[i+1]]
		slices.SortStableFunc(rows, func(a, b uint32) int {
			return int(x.orders.At(int(a))) - int(x.orders.At(int(b)))
		})
		x.rootIDs.Add(x.chatIDs.At(int(roots[rows[0]])))
		x.times.Add(x.timeOf(x.rowTimes.At(int(rows[0]))))
		x.named.Add(i)
		x.cumulative = x.cumulative || len(rows) > 1
	}
	x.named.Count(x.Len())
}
