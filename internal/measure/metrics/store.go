package metrics

import (
	"slices"

	"aiperf/internal/measure/record"
)

const (
	blockRows = 1024
	// gapCount is a column of the store's own: how many of the request's gaps the gap store holds.
	gapCount   = int(record.NumFields)
	numColumns = gapCount + 1
)

// storedRow is the facts of one request and its gapCount.
type storedRow [numColumns]int64

// block is a sealed run of rows, by columns. It never changes.
type block struct {
	rows    int
	columns [numColumns]column
}

// seal packs rows into columns. It is called once a block, with the rows no longer changed by anybody.
func seal(rows []storedRow) *block {
	b := &block{rows: len(rows)}
	// Most facts are the same in all rows, usually absent: the others alone are worth a walk down their column.
	first, varies := &rows[0], storedRow{}
	for r := range rows {
		for i, v := range rows[r] {
			varies[i] |= v ^ first[i]
		}
	}
	var values [blockRows]int64
	for i := range b.columns {
		if varies[i] == 0 {
			b.columns[i] = column{base: first[i]}
			continue
		}
		for r := range rows {
			values[r] = rows[r][i]
		}
		b.columns[i] = pack(values[:len(rows)])
	}
	return b
}

// store keeps rows: sealed blocks and the rows of the block being filled.
type store struct {
	blocks []*block
	open   []storedRow
}

func (s *store) rows() int64 { return int64(len(s.blocks)*blockRows + len(s.open)) }

func (s *store) add(f *record.Facts, gaps int) {
	if s.open == nil {
		s.open = make([]storedRow, 0, blockRows)
	}
	s.open = s.open[:len(s.open)+1]
	row := &s.open[len(s.open)-1]
	copy(row[:], f[:])
	row[gapCount] = int64(gaps)
	if len(s.open) == blockRows {
		s.blocks = append(s.blocks, seal(s.open))
		s.open = s.open[:0]
	}
}

// snapshot returns all rows so far as blocks that do not change any more.
func (s *store) snapshot() []*block {
	blocks := slices.Clip(s.blocks)
	if len(s.open) > 0 {
		blocks = append(blocks, seal(s.open))
	}
	return blocks
}

// blockReader walks a block with some of its columns unpacked.
type blockReader struct {
	scratch [][]int64
	row     record.Facts
	// rows are the rows in the block of the values that the last collect appended.
	rows [blockRows]uint16
}

// collect appends the values of a record metric over the block's rows that it is computed for.
func (r *blockReader) collect(dst []float64, b *block, m *metric) []float64 {
	wantFailed := m.Flags.Has(ErrorOnly)
	fields := append([]record.Field{record.Failed}, m.reads...)
	constant := true
	for i, field := range fields {
		c := &b.columns[field]
		if i == len(r.scratch) {
			r.scratch = append(r.scratch, make([]int64, blockRows))
		}
		if c.isConstant() {
			r.row[field] = c.base
			continue
		}
		constant = false
		c.unpack(r.scratch[i][:b.rows])
	}
	if constant {
		if v, ok := m.value(&r.row); ok && r.row.IsError() == wantFailed {
			for i := range b.rows {
				r.rows[i] = uint16(i)
				dst = append(dst, v)
			}
		}
		return dst
	}
	varying := fields[:0]
	columns := make([][]int64, 0, len(fields))
	for i, field := range fields {
		if !b.columns[field].isConstant() {
			varying, columns = append(varying, field), append(columns, r.scratch[i])
		}
	}
	start := len(dst)
	for i := range b.rows {
		for j, field := range varying {
			r.row[field] = columns[j][i]
		}
		if r.row.IsError() != wantFailed {
			continue
		}
		if v, ok := m.value(&r.row); ok {
			r.rows[len(dst)-start] = uint16(i)
			dst = append(dst, v)
		}
	}
	return dst
}

// each calls yield with every row of the block; the row is valid during the call.
func (b *block) each(yield func(*storedRow)) {
	rows := make([]storedRow, b.rows)
	var values [blockRows]int64
	for i := range b.columns {
		b.columns[i].unpack(values[:b.rows])
		for r := range rows {
			rows[r][i] = values[r]
		}
	}
	for r := range rows {
		yield(&rows[r])
	}
}
