// Package files writes the files of a recording: traffic.jsonl, which is the recording, and the same in the formats of
// traces, each in parts of bounded size. A row is on the disk a second after it was added.
package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/workload/recording"
)

// Options say where the files go and what their heads say.
type Options struct {
	// Folder is where the files go; it exists.
	Folder string
	Keep   recording.Keep
	// Tokenizer is the name of what counted.
	Tokenizer string
	BlockSize int
	// Start is the instant 0 of the rows.
	Start time.Time
	// Untimed says that the rows have no times.
	Untimed bool
	// MaxBytes is the size of a file after which the next one begins; TotalBytes that of all of them, after which rows
	// are lost. 0 = there is none.
	MaxBytes, TotalBytes int64
	// Warn gets what a person must know, each once. Meanwhile says there what goes on when rows are lost.
	Warn      func(string)
	Meanwhile string
}

// Writer writes the rows of a recording, from any number of goroutines.
type Writer struct {
	o    Options
	full atomic.Bool

	mu       sync.Mutex
	written  int64 // rows in the parts before this one
	offered  int64 // rows that were given to this part
	part     int
	size     int64 // of this part
	total    int64
	traffic  *artifact.Lines // nil once it is closed
	mooncake *artifact.Lines
	dropped  int64
}

// Create opens the first files.
func Create(o Options) (*Writer, error) {
	w := &Writer{o: o}
	return w, w.next()
}

// next opens the files of the next part; w is locked, or not shared yet.
func (w *Writer) next() error {
	lines := func(name string) (*artifact.Lines, error) {
		return artifact.CreateLines(filepath.Join(w.o.Folder, recording.PartName(name, w.part)), artifact.LinesOptions{
			OnError: func(err error) { w.o.Warn(err.Error() + "; " + w.o.Meanwhile) }})
	}
	traffic, err := lines(recording.TrafficName)
	if err != nil {
		return err
	}
	w.traffic, w.mooncake = traffic, nil
	if w.o.Keep != recording.KeepLengths {
		mooncake, err := lines(recording.MooncakeName)
		if err != nil {
			return err
		}
		w.mooncake = mooncake
	}
	head := recording.Head{Recording: recording.Version, StartedAt: w.o.Start.UTC(), Keep: w.o.Keep,
		Tokenizer: w.o.Tokenizer, Part: w.part, Untimed: w.o.Untimed}
	if w.o.Keep != recording.KeepLengths {
		head.BlockSize = w.o.BlockSize
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	w.size = 0
	return w.traffic.Add(text)
}

// mooncakeRow is a line of the format of that name: see docs/traces.md.
type mooncakeRow struct {
	SessionID string `json:"session_id"`
	// Timestamp is absent where Delay, the time since the turn before ended, says when the request is sent.
	Timestamp   *float64 `json:"timestamp,omitempty"`
	Delay       *float64 `json:"delay,omitempty"`
	InputLength int      `json:"input_length"`
	// OutputLength is absent where the reply is not known.
	OutputLength int     `json:"output_length,omitempty"`
	HashIDs      []int64 `json:"hash_ids"`
}

// Add writes a row.
func (w *Writer) Add(row *recording.Row) {
	text, err := json.Marshal(row)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.full.Load() || w.traffic == nil {
		w.dropped++
		return
	}
	if w.o.MaxBytes > 0 && w.size+int64(len(text)) > w.o.MaxBytes && w.size > 0 {
		err := w.closePart()
		w.part++
		if err == nil {
			err = w.next()
		}
		if err != nil {
			w.dropped++
			w.stop(err.Error() + "; " + w.o.Meanwhile)
			return
		}
	}
	w.offered++
	if w.traffic.Add(text) != nil {
		return // it is counted there
	}
	w.size += int64(len(text)) + 1
	w.total += int64(len(text)) + 1
	if w.mooncake != nil && row.InputLength > 0 && row.Outcome == "ok" {
		m := mooncakeRow{SessionID: row.SessionID, Delay: row.ThinkMS, InputLength: row.InputLength,
			OutputLength: row.ReplyTokens(), HashIDs: row.HashIDs}
		if m.OutputLength == 0 && row.ReplyKnown() {
			m.OutputLength = 1
		}
		if m.Delay == nil && !w.o.Untimed {
			m.Timestamp = &row.TimestampMS
		}
		if line, err := json.Marshal(m); err == nil {
			_ = w.mooncake.Add(line)
		}
	}
	if w.o.TotalBytes > 0 && w.total > w.o.TotalBytes {
		w.stop(fmt.Sprintf("the recording has its %d bytes; %s", w.o.TotalBytes, w.o.Meanwhile))
	}
}

// stop ends the writing; w is locked.
func (w *Writer) stop(why string) {
	if !w.full.Swap(true) {
		w.o.Warn(why)
	}
}

func (w *Writer) closePart() error {
	if w.traffic == nil {
		return nil // the next part could not be opened
	}
	err := w.traffic.Close()
	w.written, w.dropped = w.counted()
	w.offered, w.traffic = 0, nil
	if w.mooncake != nil {
		err = errors.Join(err, w.mooncake.Close())
		w.mooncake = nil
	}
	return err
}

// counted are the rows that are in the files, or about to be, and those that are lost; w is locked. A write that fails
// loses lines that had been taken, the head of the part among them.
func (w *Writer) counted() (written, lost int64) {
	if w.traffic == nil {
		return w.written, w.dropped
	}
	lines, _ := w.traffic.Count()
	rows := max(0, lines-1)
	return w.written + rows, w.dropped + w.offered - rows
}

// Counts returns the number of rows that are in the files, or about to be, and of those that are lost.
func (w *Writer) Counts() (written, lost int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counted()
}

// Close writes what is left, and weka_trace of all rows. That one fails alone: it can be made again.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	closed := w.traffic != nil
	err := w.closePart()
	if !closed || err != nil || w.o.Keep == recording.KeepLengths || w.written == 0 {
		return err
	}
	_, left, err := WriteWeka(w.o.Folder)
	if err != nil {
		w.o.Warn(fmt.Sprintf("%s is not written: %v; aiperf anonymize %s makes it later", recording.WekaName, err,
			w.o.Folder))
	}
	if left > 0 {
		w.o.Warn(fmt.Sprintf("%s has %d sessions; %d more are in the other files alone", recording.WekaName, maxWeka,
			left))
	}
	return nil
}

// Full reports whether rows are no longer written: the files have their size, or a part could not be opened.
func (w *Writer) Full() bool { return w.full.Load() }
