package export

import (
	"bytes"
	"context"
	"io"
	"strconv"

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
	if len(d.buf) >= documentBuffer {
		d.flush()
	}
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
	d.item()
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

// members writes the members of an object.
func (d *document) members(o artifact.Object) {
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
