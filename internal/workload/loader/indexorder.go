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
func (x *indexer) groupByTime() {
	w := x.load.options.Window
	for row := range x.count {
		if x.absent.has(row) {
			continue
		}
		if !w.open() && !w.Holds(x.rowTimes.at(row)-x.earliest) {
			x.dropped.outside++
			continue
		}
		x.list = append(x.list, uint32(row))
	}
	slices.SortStableFunc(x.list, func(a,
		b uint32) int {
		return cmp.Compare(x.rowTimes.at(int(a)), x.rowTimes.at(int(b)))
	})
	x.starts = make([]uint32, len(x.list)+1)
	for i, row := range x.list {
		x.starts[i+1] = uint32(i + 1)
		x.times.add(x.transformed(x.rowTimes.at(int(row)) - x.earliest))
	}
	x.origin = x.earliest
	x.named.count(len(x.list))
	x.rowTimes = floats{}
}

// groupChats finds the root of each chat; the chats of one root are a conversation.
func (x *indexer) groupChats() {
	byChat := make([]uint32, x.count)
	sorted := true
	for i := range byChat {
		byChat[i] = uint32(i)
		sorted = sorted && (i == 0 || x.chatIDs.at(i-1) < x.chatIDs.at(i))
	}
	if !sorted {
		slices.SortFunc(byChat, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(x.chatIDs.at(int(a)), x.chatIDs.at(int(b))), cmp.Compare(a, b))
		})
	}
	if x.refuseTwins(byChat); x.mistaken > 0 {
		return
	}
	find := func(chat int64) (uint32, bool) {
		at, ok := slices.BinarySearchFunc(byChat, chat,
			func(row uint32, chat int64) int { return cmp.Compare(x.chatIDs.at(int(row)), chat) })
		if !ok {
			return 0, false
		}
		return byChat[at], true
	}
	roots := slices.Repeat([]uint32{noRow}, x.count)
	for row := range x.count {
		x.findRoot(uint32(row), roots, find)
	}
	x.parents = ints{}
	x.listChats(roots, byChat)
	x.chatIDs, x.orders, x.rowTimes = ints{}, ints{}, floats{}
}

// refuseTwins refuses rows whose chat an earlier row has.
func (x *indexer) refuseTwins(byChat []uint32) {
	type twin struct{ row, first uint32 }
	var twins []twin
	chat := func(i int) int64 { return x.chatIDs.at(int(byChat[i])) }
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
			if row, err := x.readRow(int(t.row)); err == nil {
				x.load.line = row.line
			}
		}
		x.chatTwice(x.chatIDs.at(int(t.row)), x.parents.at(int(t.first)))
	}
}

// findRoot walks up the parents. A missing parent, a chat that is its own parent and a cycle end the walk.
func (x *indexer) findRoot(row uint32, roots []uint32, find func(int64) (uint32, bool)) {
	const walking = noRow - 1 // a row of the path
	var path []uint32
	for roots[row] == noRow {
		roots[row] = walking
		path = append(path, row)
		parent, ok := find(x.parents.at(int(row)))
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
func (x *indexer) listChats(roots, number []uint32) {
	for i := range number { // the conversation of a root
		number[i] = noRow
	}
	conversations := uint32(0)
	for row, root := range roots {
		if !x.absent.has(row) && number[root] == noRow {
			number[root] = conversations
			conversations++
		}
	}
	w, sizes := x.load.options.Window, make([]uint32, conversations)
	keeps := func(row int) bool {
		return !x.absent.has(row) && (w.open() || w.Holds(x.rowTimes.at(row)))
	}
	for row, root := range roots {
		switch {
		case keeps(row):
			sizes[number[root]]++
		case !x.absent.has(row):
			x.dropped.outside++
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
		slices.SortStableFunc(rows, func(a,
			b uint32) int {
			return int(x.orders.at(int(a))) - int(x.orders.at(int(b)))
		})
		x.rootIDs.add(x.chatIDs.at(int(roots[rows[0]])))
		x.times.add(x.transformed(x.rowTimes.at(int(rows[0]))))
		x.named.set(i)
		x.grown = x.grown || len(rows) > 1
	}
	x.named.count(x.Len())
	if x.grown {
		x.notef("conversations are sent without the history of earlier turns where the hash ids of their turns hold it already")
	}
}
