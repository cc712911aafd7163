package servermetrics

import (
	"encoding/binary"
	"slices"
)

// The size of a block is what reading at one place has to decode. Scalars keep little in a block, histograms at
// least some rows.
const (
	scalarBlock    = 512
	histogramBlock = 4096
	rowsPerBlock   = 4
	runBytes       = 1 + binary.MaxVarintLen32
)

// blockSize returns the size of the blocks of a column, and the most that one row with the runs before it takes.
func blockSize(width int) (size, row int) {
	row = 1 + 9*width + 2*runBytes
	if width == scalarRow {
		return scalarBlock, row
	}
	return max(histogramBlock, rowsPerBlock*row), row
}

// column holds the rows of a series by slot: one value for a scalar; cumulative buckets, sum and count for a
// histogram. Rows equal to the one before cost nothing, the others some bytes.
//
// A block is a sequence of operations, each of which covers one slot or more:
//
//	00nnnnnn  the row before, n+1 more times   (n = 63: 64 plus the uvarint that follows)
//	01nnnnnn  no row for n+1 slots             (likewise)
//	1.......  a row, see appendRow
//
// The first operation of a block is a row, coded against a row of zeros: a block can be read by itself, and
// every slot from its first on has a row at or before it in the same block.
type column struct {
	blocks   []block
	last     []float64 // the row last pushed; its length is the width
	lastSlot int32     // where it was pushed last, -1 if never
	run      int32     // slots at the end that repeat it and are not in a block yet
}

type block struct {
	first int32 // the slot of the first operation
	data  []byte
}

const (
	opRepeat  = 0x00
	opGap     = 0x40
	opRow     = 0x80
	opKind    = 0xc0
	opArg     = 0x3f
	scalarRow = 1 // the width of a row that is one value
)

func newColumn(width int) column {
	return column{last: make([]float64, width), lastSlot: -1}
}

// push stores the row of a slot; slots ascend.
func (c *column) push(slot int32, row []float64) {
	if c.lastSlot >= 0 && sameBits(c.last, row) {
		c.repeat(slot)
		return
	}
	c.close(slot)
	size, most := blockSize(len(row))
	if n := len(c.blocks); n == 0 || len(c.blocks[n-1].data)+most > size {
		c.open(slot, size)
	}
	b := &c.blocks[len(c.blocks)-1]
	b.data = appendRow(b.data, c.last, row)
	copy(c.last, row)
	c.lastSlot = slot
}

// repeat stores the last row again.
func (c *column) repeat(slot int32) {
	if slot > c.lastSlot+1 {
		c.close(slot)
	}
	c.run++
	c.lastSlot = slot
}

// close writes down the repetitions at the end and the gap up to a slot.
func (c *column) close(slot int32) {
	if len(c.blocks) == 0 {
		return
	}
	b := &c.blocks[len(c.blocks)-1]
	b.data = appendRun(b.data, opRepeat, c.run)
	b.data = appendRun(b.data, opGap, slot-c.lastSlot-1)
	c.run = 0
}

// open starts a block: the next row is coded against zeros.
func (c *column) open(slot int32, size int) {
	b := block{first: slot}
	if len(c.blocks) > 0 { // the first one grows as needed: most series hardly change
		b.data = make([]byte, 0, size)
	}
	clear(c.last)
	c.blocks = append(c.blocks, b)
}

func appendRun(dst []byte, op byte, n int32) []byte {
	switch {
	case n == 0:
		return dst
	case n <= opArg:
		return append(dst, op|byte(n-1))
	}
	return binary.AppendUvarint(append(dst, op|opArg), uint64(n-opArg-1))
}

// cursor reads a column run by run: a run is a stretch of slots with the same row.
type cursor struct {
	column *column
	block  int
	rest   []byte // of the block
	next   int32  // the slot after the run
	ended  bool   // the repetitions at the end have been read

	row      []float64
	first, n int32 // the run
	changed  bool  // the row is not that of the run before
}

// seek places the cursor so that the first run that it reads begins at the last row at or before slot, or
// earlier.
func (k *cursor) seek(c *column, slot int32) {
	at, found := slices.BinarySearchFunc(c.blocks, slot, func(b block, slot int32) int { return int(b.first - slot) })
	if !found && at > 0 {
		at--
	}
	k.column, k.block, k.rest, k.ended = c, at-1, nil, len(c.blocks) == 0
	k.row = append(k.row[:0], c.last...)
}

// read moves to the next run and reports whether there is one.
func (k *cursor) read() bool {
	for {
		if len(k.rest) == 0 && !k.nextBlock() {
			return k.readEnd()
		}
		op := k.rest[0]
		k.first = k.next
		if op&opRow != 0 {
			k.rest = k.rest[readRow(k.rest, k.row):]
			k.n, k.changed = 1, true
			k.next++
			return true
		}
		n := int32(op&opArg) + 1
		k.rest = k.rest[1:]
		if n > opArg {
			more, length := binary.Uvarint(k.rest)
			n += int32(more)
			k.rest = k.rest[length:]
		}
		k.next += n
		if op&opKind == opRepeat {
			k.n, k.changed = n, false
			return true
		}
	}
}

func (k *cursor) nextBlock() bool {
	if k.block+1 >= len(k.column.blocks) {
		return false
	}
	k.block++
	b := k.column.blocks[k.block]
	k.rest, k.next = b.data, b.first
	clear(k.row)
	return true
}

func (k *cursor) readEnd() bool {
	if k.ended || k.column.run == 0 {
		return false
	}
	k.ended = true
	k.first, k.n, k.changed = k.next, k.column.run, false
	k.next += k.n
	return true
}
