package export

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// document writes JSON indented by two spaces as it comes, so that a file of any size needs no memory. Write
// errors are kept until the end.
type document struct {
	ctx   context.Context
	w     io.Writer
	buf   []byte
	depth int
	empty bool // nothing was written since the last opening bracket
	err   error
	// byKey sorts the members of the objects between object and end. buf keeps what is written while one is open.
	byKey bool
	// opened has an entry for each open one: the number of members when it was opened.
	opened  []int
	members []member
	scratch []byte
}

// member is where a member of an object is in the buffer: its separator begins at from, its key at start.
type member struct {
	key              string
	from, start, end int
}

const documentBuffer = 64 << 10

func (d *document) open(bracket byte) {
	d.buf = append(d.buf, bracket)
	d.depth++
	d.empty = true
}

func (d *document) close(bracket byte) {
	d.depth--
	if !d.empty {
		d.newline()
	}
	d.empty = false
	d.buf = append(d.buf, bracket)
	if len(d.buf) >= documentBuffer && len(d.opened) == 0 {
		d.flush()
	}
}

// object opens an object that is small enough to be kept until its end. What is written up to there are its members,
// in any order, and those of objects that are opened in the same way.
func (d *document) object() {
	d.open('{')
	if d.byKey {
		d.opened = append(d.opened, len(d.members))
	}
}

// end closes an object that was opened by object.
func (d *document) end() {
	if last := len(d.opened) - 1; last >= 0 {
		d.sort(d.members[d.opened[last]:])
		d.members, d.opened = d.members[:d.opened[last]], d.opened[:last]
	}
	d.close('}')
}

// sort puts the members at the end of the buffer in the order of their keys.
func (d *document) sort(members []member) {
	if len(members) < 2 {
		return
	}
	first, end := members[0].start, len(d.buf)
	separator := d.buf[members[1].from:members[1].start]
	for i, m := range slices.Backward(members) {
		members[i].end, end = end, m.from
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	d.scratch = d.scratch[:0]
	for i, m := range members {
		if i > 0 {
			d.scratch = append(d.scratch, separator...)
		}
		d.scratch = append(d.scratch, d.buf[m.start:m.end]...)
	}
	copy(d.buf[first:], d.scratch)
}

// item starts an element of a list.
func (d *document) item() {
	if !d.empty {
		d.buf = append(d.buf, ',')
	}
	d.empty = false
	d.newline()
}

// key starts a member of an object.
func (d *document) key(k string) {
	from := len(d.buf)
	d.item()
	if len(d.opened) > 0 {
		d.members = append(d.members, member{key: k, from: from, start: len(d.buf)})
	}
	d.buf = append(artifact.AppendString(d.buf, k), ':', ' ')
}

func (d *document) newline() {
	d.buf = append(d.buf, '\n')
	for range d.depth {
		d.buf = append(d.buf, ' ', ' ')
	}
}

func (d *document) text(k, v string) {
	d.key(k)
	d.buf = artifact.AppendString(d.buf, v)
}

func (d *document) integer(k string, v int64) {
	d.key(k)
	d.buf = strconv.AppendInt(d.buf, v, 10)
}

// float leaves out what is not finite.
func (d *document) float(k string, v float64) {
	if artifact.Finite(v) {
		d.key(k)
		d.buf = artifact.AppendFloat(d.buf, v)
	}
}

// texts writes a list of strings.
func (d *document) texts(k string, list []string) {
	d.key(k)
	d.open('[')
	for _, v := range list {
		d.item()
		d.buf = artifact.AppendString(d.buf, v)
	}
	d.close(']')
}

// value writes any value.
func (d *document) value(k string, v any) {
	out, err := artifact.AppendIndented(nil, v)
	if err != nil {
		d.fail(err)
		return
	}
	d.key(k)
	indent := append([]byte{'\n'}, bytes.Repeat([]byte("  "), d.depth)...)
	d.buf = append(d.buf, bytes.ReplaceAll(out, []byte{'\n'}, indent)...)
}

// values writes the members of an object.
func (d *document) values(o artifact.Object) {
	for _, m := range o {
		d.value(m.Key, m.Value)
	}
}

func (d *document) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *document) flush() {
	if err := d.ctx.Err(); err != nil {
		d.fail(err)
	}
	if d.err == nil {
		_, d.err = d.w.Write(d.buf)
	}
	d.buf = d.buf[:0]
}

// finish ends the document with a newline.
func (d *document) finish() error {
	d.buf = append(d.buf, '\n')
	d.flush()
	return d.err
}
