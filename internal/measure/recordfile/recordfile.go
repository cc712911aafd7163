// Package recordfile owns the files with a line for each request: profile_export.jsonl, whose lines have the metrics
// and facts of a request, and profile_export_raw.jsonl, which has what was sent and received.
//
// A [Writer] writes a file while the run goes on. There are three ways to read one back, by what is needed of a
// request: [Read] all that its metrics are computed from, [ReadRequests] when it ran and for whom, a [RowParser] the
// values of its metrics. [Cells] are the values of a line as they stand there.
//
// What holds: a line has passed the redactor, absent values are left out, and a last line without its end, of a run
// that was killed, is not read. The package must never know who reads: reports, comparisons, pages.
//
// It also packs records into batches of bytes and reads them back, exactly: what a process that makes the
// requests of a run sends to the one that counts them.
//
// A row is written as the differences to the row before it, so that what repeats takes a byte; ids that are UUIDs take
// 16 bytes, other texts are written once in a batch. A row of facts takes about 60 bytes, its two ids 32 more. What few
// records have (a trace, a raw exchange, an error) follows its row. The bytes are for processes of the same build.
//
// It also turns values into bytes and back, exactly: nil and empty lists stay different, a pointer to zero stays
// one, raw bytes are not touched and floats keep all their bits, infinities included. It is for processes of the same
// build that exchange values of the program's own types: the bytes hold no names, and [Layout] says whether two builds
// agree on a type.
//
// Exported fields are carried in their order. A field that another process cannot have, such as a function, has the tag
// `carry:"-"` and keeps the zero value. Types with fields that are not exported are carried by their MarshalBinary.
package recordfile

import (
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// AppendLine appends the line of a record to dst; false if the record has none in this file.
type AppendLine func(dst []byte, r *record.Record) ([]byte, bool)

// Writer writes a file with a line for each record, in the order in which records arrive, from any goroutine.
type Writer struct {
	lines   *artifact.Lines
	append  AppendLine
	buffers sync.Pool // lines are built outside of the file's lock
}

// Create creates the file.
func Create(path string, o artifact.LinesOptions, line AppendLine) (*Writer, error) {
	lines, err := artifact.CreateLines(path, o)
	if err != nil {
		return nil, err
	}
	return &Writer{lines: lines, append: line, buffers: sync.Pool{New: func() any { return new([]byte) }}}, nil
}

// Add writes the line of a record. An error is kept, see Err: later records are dropped.
func (w *Writer) Add(r *record.Record) {
	buf := w.buffers.Get().(*[]byte)
	line, ok := w.append((*buf)[:0], r)
	if ok {
		_ = w.lines.Add(line) // kept by the file
	}
	*buf = line
	w.buffers.Put(buf)
}

// Err returns the first write error so far.
func (w *Writer) Err() error { return w.lines.Err() }

// Close writes the rest. A file that would have no lines is removed.
func (w *Writer) Close() error { return w.lines.Close() }

// Omitted returns the number of lines that the limit of the file left out.
func (w *Writer) Omitted() int64 { return w.lines.Omitted() }
