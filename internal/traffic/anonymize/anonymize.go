// Package anonymize makes recordings of files that hold texts: it reads each request, counts and hashes it as the
// recorder does, and writes the rows without a word of it. Then it checks what it wrote.
//
// Each file is read once, record by record. Rows are sorted by their times before sessions are recognized, since logs
// have the order of the replies or the newest first; what does not fit into memory waits in files without texts.
package anonymize

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"aiperf/internal/traffic/files"
	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/rows"
	"aiperf/internal/workload/tokenizer"
)

// Options say what is read and how it is written.
type Options struct {
	// Inputs are files, and folders of recordings or of a format that has folders.
	Inputs []string
	// Format is that of all inputs: one of [Formats]; "" = each is detected.
	Format string
	// Folder is where the files go; it exists and holds no recording.
	Folder string
	// Keep is [recording.KeepLengths] or [recording.KeepHashes].
	Keep recording.Keep
	// Tokenizer, BlockSize, Salt and RenameModels are those of [row.Options].
	Tokenizer    tokenizer.Tokenizer
	BlockSize    int
	Salt         []byte
	RenameModels bool
	// MaxBytes is the size of a file after which the next one begins.
	MaxBytes int64
	// Warn gets what a person must know.
	Warn func(string)
}

// Result is what came of it.
type Result struct {
	// Formats are those of the inputs.
	Formats []string
	// Records were read, of which Without hold no request; Rows were written.
	Records, Without, Rows int64
	// Sessions is the number of conversations.
	Sessions                                int64
	InputTokens, OutputTokens, SharedTokens int64
	// Untimed: the inputs have no times. Undated is the number of requests without one in inputs that have them: they
	// got that of the request before.
	Untimed bool
	Undated int64
	// WithoutText is the number of requests of which only lengths are known, Unanswered that of those whose reply is
	// not.
	WithoutText, Unanswered int64
	// Sequences is the number of sequences of five words in the inputs that were looked for.
	Sequences int64
	Checked   Checked
	// Keep and BlockSize are what was written: an input that is a recording without texts decides.
	Keep      recording.Keep
	BlockSize int
}

// The formats of ours that the loader does not read as requests.
const (
	formatRecording = "aiperf_recording"
	formatRaw       = "raw_records"
)

// Formats are the names of what can be read.
func Formats() []string { return append([]string{formatRecording, formatRaw}, loader.CallFormats()...) }

// noText is what is said of a request of which only lengths are known.
const noText = "no text of the request"

// Run reads the inputs, writes the recording and checks it. After a [*Violation] and any other error the files are
// removed.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	r := &reader{o: o, words: NewWords(), sorted: files.NewSorter(o.Folder), last: math.NaN()}
	r.Keep, r.BlockSize = o.Keep, o.BlockSize
	defer r.sorted.Close()
	r.memory = row.NewMemory(row.Options{Keep: o.Keep, Tokenizer: o.Tokenizer, BlockSize: o.BlockSize, Salt: o.Salt,
		RenameModels: o.RenameModels})
	r.maker = r.memory.Maker()
	for _, path := range o.Inputs {
		if err := r.read(ctx, path); err != nil {
			return nil, err
		}
	}
	if r.decided && r.hashed {
		return nil, errors.New("a recording with hashes cannot be joined with inputs that have texts, whose hashes have " +
			"another key: anonymize it alone, or with --keep lengths")
	}
	if r.Rows == 0 {
		return nil, fmt.Errorf("there is no request in %d records", r.Records)
	}
	err := r.write(ctx)
	r.sorted.Close() // its files are none of the recording
	if err == nil {
		r.Sequences = r.words.Count()
		r.Checked, err = Check(o.Folder, r.words, r.memory.Names(), row.PlainName(o.Tokenizer.Name()))
	}
	if err != nil {
		return nil, errors.Join(err, remove(o.Folder))
	}
	return &r.Result, nil
}

// remove takes away what was written.
func remove(folder string) (err error) {
	for _, name := range []string{recording.TrafficName, recording.MooncakeName} {
		for part := 0; ; part++ {
			failed := os.Remove(filepath.Join(folder, recording.PartName(name, part)))
			if errors.Is(failed, os.ErrNotExist) {
				break
			}
			err = cmp.Or(err, failed)
		}
	}
	return cmp.Or(err, os.RemoveAll(filepath.Join(folder, recording.WekaName)))
}

// reader reads the inputs.
type reader struct {
	o Options
	Result
	memory *row.Memory
	maker  *row.Maker
	words  *Words
	sorted *files.Sorter
	last   float64 // the time of the request before
	buf    []byte
	// decided: an input that is a recording without texts said what is kept. hashed: others were hashed here.
	decided, hashed bool
}

// read reads an input.
func (r *reader) read(ctx context.Context, path string) error {
	format, err := r.formatOf(path)
	if err != nil {
		return err
	}
	switch format {
	case formatRecording:
		err = r.recording(path)
	case formatRaw:
		err = r.rawRecords(ctx, path)
	default:
		format, err = loader.EachCall(ctx, path, format, r.record)
	}
	if err == nil {
		r.Formats = append(r.Formats, format)
	}
	return err
}

// record takes a record of a file in.
func (r *reader) record(from *loader.Record) error {
	r.Records++
	if from.Text != nil {
		r.words.Add(from.Text, true)
	}
	r.values(from.Values)
	if len(from.Calls) == 0 {
		r.Without++
	}
	for i := range from.Calls {
		call := &from.Calls[i]
		if from.Packed || from.Text == nil { // values may be texts of JSON
			r.words.Add(call.Body, true)
			r.words.Add(call.Reply, true)
		}
		if err := r.call(call); err != nil {
			return err
		}
	}
	return nil
}

// values takes in the sequences of all texts of a value.
func (r *reader) values(v any) {
	switch v := v.(type) {
	case string:
		r.words.Add([]byte(v), false)
	case map[string]any:
		for name, inner := range v {
			r.words.Add([]byte(name), false)
			r.values(inner)
		}
	case rows.Row:
		r.values(map[string]any(v))
	case []any:
		for _, inner := range v {
			r.values(inner)
		}
	}
}

// call makes the row of a call.
func (r *reader) call(c *loader.Call) error {
	x := &row.Exchange{Path: c.Path, Request: c.Body, Reply: c.Reply, ContentType: c.ReplyType, Session: c.Session,
		Status: c.Status, Outcome: "ok", Took: duration(c.TookMS)}
	if c.Status != 0 && (c.Status < 200 || c.Status > 299) {
		x.Outcome = "error"
	}
	if c.Path == "" {
		x.Endpoint = row.EndpointOf(c.Body, c.Reply)
	}
	if c.ReplyType == "" {
		x.ContentType = "application/json"
	}
	made, thread := r.maker.Describe(x)
	r.hashed = true
	if c.Body == nil {
		made.InputLength, made.Incomplete = c.Input, noText
		r.WithoutText++
	} else if c.Input > 0 && made.UsagePrompt == nil {
		made.UsagePrompt = new(int64(c.Input))
	}
	switch {
	case c.Output == 0 && c.Reply == nil:
		made.Lacks(true, recording.NoReply)
		r.Unanswered++
	case c.Output == 0:
	case c.Reply == nil:
		made.OutputLength = c.Output
	case made.UsageCompletion == nil:
		made.UsageCompletion = new(int64(c.Output))
	}
	if c.TTFTMS >= 0 {
		made.TTFTMS = &c.TTFTMS
	}
	if c.DelayMS >= 0 {
		made.ThinkMS = &c.DelayMS
	}
	return r.add(made, thread, c.AtMS, c.TookMS)
}

// duration is a number of milliseconds; what is not known is 0.
func duration(ms float64) time.Duration {
	if !(ms >= 0) || ms > 1e12 {
		return 0
	}
	return time.Duration(ms * 1e6)
}

// add has a row wait for its place: the time in milliseconds decides, or the order of the inputs where they have none.
func (r *reader) add(made *recording.Row, thread row.Thread, atMS, tookMS float64) error {
	if r.Rows++; r.Rows == 1 {
		r.Untimed = math.IsNaN(atMS)
	}
	switch {
	case r.Untimed:
		atMS = 0
	case math.IsNaN(atMS):
		r.Undated++
		atMS = r.last
	}
	r.last = atMS
	if len(thread.Before) > maxBefore {
		thread.Before = thread.Before[:maxBefore]
	}
	made.TimestampMS = 0
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(int64(atMS*1000))^1<<63)
	r.buf = binary.AppendUvarint(r.buf[:0], uint64(len(thread.Before)))
	r.buf = append(r.buf, thread.Own[:]...)
	for _, before := range thread.Before {
		r.buf = append(r.buf, before[:]...)
	}
	known := byte(0)
	if tookMS >= 0 && !r.Untimed {
		known = 1
	}
	r.buf = append(append(r.buf, known), text...)
	return r.sorted.Add(key, r.buf)
}

// maxBefore bounds the beginnings of a conversation by which a row that waits finds its session: the longest ones.
const maxBefore = 1000

// write gives the rows their sessions, in the order of their times, and writes them.
func (r *reader) write(ctx context.Context) (err error) {
	var out *files.Writer
	var start time.Time
	sessions := int64(0)
	said := &warning{}
	err = r.sorted.Each(func(key, value []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := time.UnixMicro(int64(binary.BigEndian.Uint64(key) ^ 1<<63))
		if out == nil {
			start = at
			out, err = files.Create(files.Options{Folder: r.o.Folder, Keep: r.Keep, BlockSize: r.BlockSize,
				Tokenizer: row.PlainName(r.o.Tokenizer.Name()), Start: start, Untimed: r.Untimed, MaxBytes: r.o.MaxBytes,
				Warn: said.set, Meanwhile: "the rest is lost"})
			if err != nil {
				return err
			}
		}
		made, thread, timed, err := unpack(value)
		if err != nil {
			return err
		}
		if r.Keep == recording.KeepLengths {
			made.HashIDs = nil
		}
		made.TimestampMS = float64(at.Sub(start).Microseconds()) / 1000
		ended := time.Time{}
		if timed {
			ended = at.Add(time.Duration(made.LatencyMS * 1e6))
		}
		r.SharedTokens += int64(r.memory.Place(made, thread, at, ended))
		r.InputTokens += int64(made.InputLength)
		r.OutputTokens += int64(made.OutputLength + made.ReasoningLength)
		if made.Turn == 0 {
			sessions++
		}
		out.Add(made)
		if out.Full() {
			return errors.New(said.text())
		}
		return nil
	})
	if out != nil {
		err = cmp.Or(err, out.Close())
		if _, lost := out.Counts(); err == nil && lost > 0 {
			err = errors.New(said.text())
		}
		if text := said.text(); err == nil && text != "" {
			r.o.Warn(text)
		}
	}
	r.Sessions = sessions
	return err
}

// warning is the last warning of a writer, which gives it from goroutines of its own.
type warning struct{ last atomic.Pointer[string] }

func (w *warning) set(text string) { w.last.Store(&text) }

func (w *warning) text() string {
	if text := w.last.Load(); text != nil {
		return *text
	}
	return ""
}

// unpack is the other way of add.
func unpack(value []byte) (made *recording.Row, t row.Thread, timed bool, err error) {
	n, length := binary.Uvarint(value)
	value = value[length:]
	digest := func() (d row.Digest) {
		value = value[copy(d[:], value):]
		return d
	}
	t.Own = digest()
	for range n {
		t.Before = append(t.Before, digest())
	}
	made = new(recording.Row)
	return made, t, value[0] == 1, json.Unmarshal(value[1:], made)
}
