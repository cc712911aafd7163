package rows

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// column are the values of a field in one batch. Everything that they refer to was checked.
type column struct {
	*field
	length   int
	validity []byte // nil: all are there
	data     []byte
	offsets  []byte
	views    [][]byte // data of a view
	children []*column
}

// maxEmpty bounds the values that take no room.
const maxEmpty = 1 << 16

var errValues = errors.New("its values are corrupt")

// column takes the next field's values from a batch.
func (b *batch) column(f *field) (*column, error) {
	length, nulls, err := b.node()
	if err != nil {
		return nil, err
	}
	c := &column{field: f, length: length}
	if f.kind == nothing {
		return c, c.check()
	}
	if c.validity, err = b.buffer(); err != nil {
		return nil, err
	}
	if nulls == 0 {
		c.validity = nil
	} else if len(c.validity) < (length+7)/8 {
		return nil, errValues
	}
	switch f.kind {
	case signed, unsigned, floating, boolean, bytesOf, view:
		c.data, err = b.buffer()
	case variable:
		if c.offsets, err = b.buffer(); err == nil {
			c.data, err = b.buffer()
		}
	case list:
		c.offsets, err = b.buffer()
	}
	if err != nil {
		return nil, err
	}
	if f.kind == view {
		if c.views, err = b.more(); err != nil {
			return nil, err
		}
	}
	for _, child := range f.children {
		of, err := b.column(child)
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, of)
	}
	return c, c.check()
}

// check finds whatever does not lie where the column says.
func (c *column) check() error {
	room := func(width int) error {
		if width == 0 && c.length > maxEmpty {
			return errors.New("there are too many empty values")
		}
		if width > 0 && c.length > len(c.data)/width {
			return errValues
		}
		return nil
	}
	switch c.kind {
	case nothing:
		return room(0)
	case boolean:
		if len(c.data) < (c.length+7)/8 {
			return errValues
		}
	case variable:
		return c.checkOffsets(len(c.data))
	case list:
		return c.checkOffsets(c.children[0].length)
	case fixedList:
		if c.size == 0 {
			return room(0)
		}
		if c.length > c.children[0].length/c.size {
			return errValues
		}
	case structure:
		if len(c.children) == 0 {
			return room(0)
		}
		for _, child := range c.children {
			if child.length < c.length {
				return errValues
			}
		}
	case view:
		if err := room(c.width); err != nil {
			return err
		}
		return c.checkViews()
	default:
		if err := room(c.width); err != nil {
			return err
		}
		return c.checkIndices()
	}
	return nil
}

func (c *column) offset(i int) int64 {
	if c.width == 8 {
		return int64(binary.LittleEndian.Uint64(c.offsets[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(c.offsets[4*i:])))
}

// checkOffsets has every value begin where the one before ends, within so much.
func (c *column) checkOffsets(within int) error {
	if c.length == 0 {
		return nil
	}
	if len(c.offsets)/c.width < c.length+1 {
		return errValues
	}
	last := c.offset(0)
	if last < 0 {
		return errValues
	}
	for i := 1; i <= c.length; i++ {
		next := c.offset(i)
		if next < last {
			return errValues
		}
		last = next
	}
	if last > int64(within) {
		return errValues
	}
	return nil
}

// inView is the number of bytes that stand in the view itself.
const inView = 12

// checkViews has every view refer to data that are there. Views may share data; all together they stay within bounds.
func (c *column) checkViews() error {
	total := 0
	for i := range c.length {
		if !c.valid(i) {
			continue
		}
		n, buffer, at := c.viewAt(i)
		if n < 0 {
			return errValues
		}
		if n > inView && (buffer < 0 || buffer >= len(c.views) || at < 0 || at > len(c.views[buffer])-n) {
			return errValues
		}
		if total += n; total > maxBody {
			return errors.New("its texts are too long for one batch")
		}
	}
	return nil
}

func (c *column) viewAt(i int) (n, buffer, at int) {
	v := c.data[16*i:]
	number := func(at int) int { return int(int32(binary.LittleEndian.Uint32(v[at:]))) }
	return number(0), number(8), number(12)
}

// checkIndices has every index of an encoded column name a value of its dictionary.
func (c *column) checkIndices() error {
	if c.dictionary == nil {
		return nil
	}
	if !c.dictionary.known {
		return errors.New("the values of a dictionary come after the rows that use them, which is not supported")
	}
	for i := range c.length {
		if !c.valid(i) {
			continue
		}
		if at, ok := c.number(i).(int64); !ok || at < 0 || at >= int64(len(c.dictionary.values)) {
			return errValues
		}
	}
	return nil
}

func (c *column) valid(i int) bool { return c.validity == nil || c.validity[i/8]>>(i%8)&1 != 0 }

// value returns value i; nil: there is none.
func (c *column) value(i int) any {
	if c.kind == nothing || !c.valid(i) {
		return nil
	}
	if c.dictionary != nil {
		at, _ := c.number(i).(int64)
		return c.dictionary.values[at]
	}
	switch c.kind {
	case signed, unsigned, floating:
		return c.number(i)
	case boolean:
		return c.data[i/8]>>(i%8)&1 != 0
	case bytesOf:
		return c.content(c.data[c.width*i:][:c.width])
	case variable:
		return c.content(c.data[c.offset(i):c.offset(i+1)])
	case view:
		n, buffer, at := c.viewAt(i)
		if n <= inView {
			return c.content(c.data[16*i+4:][:n])
		}
		return c.content(c.views[buffer][at:][:n])
	case list:
		return c.items(int(c.offset(i)), int(c.offset(i+1)))
	case fixedList:
		return c.items(c.size*i, c.size*(i+1))
	}
	object := make(map[string]any, len(c.children))
	for _, child := range c.children {
		object[child.name] = child.value(i)
	}
	return object
}

func (c *column) items(from, to int) []any {
	items := make([]any, 0, to-from)
	for i := from; i < to; i++ {
		items = append(items, c.children[0].value(i))
	}
	return items
}

func (c *column) content(b []byte) any {
	if c.text {
		return string(b)
	}
	return append([]byte{}, b...)
}

// number returns a number: an int64, a float64, or the text of one that an int64 cannot hold.
func (c *column) number(i int) any {
	b := c.data[c.width*i:][:c.width]
	var bits uint64
	for at := len(b) - 1; at >= 0; at-- {
		bits = bits<<8 | uint64(b[at])
	}
	switch c.kind {
	case signed:
		shift := 64 - 8*c.width
		return int64(bits<<shift) >> shift
	case unsigned:
		if bits > math.MaxInt64 {
			return json.Number(strconv.FormatUint(bits, 10))
		}
		return int64(bits)
	}
	switch c.width {
	case 2:
		return half(uint16(bits))
	case 4:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// half returns a number of 16 bits: a sign, 5 bits of exponent, 10 bits of fraction.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var x float64
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		x = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits>>15 != 0 {
		return -x
	}
	return x
}
