package recorder

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

// rows writes the rows of a recording.
type rows struct {
	o      *Options
	start  time.Time
	blocks *blocks
	count  atomic.Int64
	full   atomic.Bool

	mu       sync.Mutex
	part     int
	size     int64 // of this part
	total    int64
	traffic  *artifact.Lines // nil once it is closed
	mooncake *artifact.Lines
	dropped  int64
}

func openRows(o *Options, start time.Time) (*rows, error) {
	r := &rows{o: o, start: start, blocks: newBlocks(o.BlockSize, o.Salt)}
	return r, r.next()
}

// next opens the files of the next part; r is locked, or not shared yet.
func (r *rows) next() error {
	lines := func(name string) (*artifact.Lines, error) {
		return artifact.CreateLines(filepath.Join(r.o.Folder, recording.PartName(name, r.part)), artifact.LinesOptions{
			OnError: func(err error) { r.o.Warn(err.Error() + "; requests are passed on, their rows are lost") }})
	}
	traffic, err := lines(recording.TrafficName)
	if err != nil {
		return err
	}
	r.traffic, r.mooncake = traffic, nil
	if r.o.Keep != recording.KeepLengths {
		mooncake, err := lines(recording.MooncakeName)
		if err != nil {
			return err
		}
		r.mooncake = mooncake
	}
	head := recording.Head{Recording: recording.Version, StartedAt: r.start.UTC(), Keep: r.o.Keep, Tokenizer: r.o.Tokenizer.Name(), Part: r.part}
	if r.o.Keep != recording.KeepLengths {
		head.BlockSize = r.o.BlockSize
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	r.size = 0
	return r.traffic.Add(text)
}

// mooncakeRow is a line of the format of that name: see docs/traces.md.
type mooncakeRow struct {
	SessionID string `json:"session_id"`
	// Timestamp is absent where Delay, the time since the turn before ended, says when the request is sent.
	Timestamp    *float64 `json:"timestamp,omitempty"`
	Delay        *float64 `json:"delay,omitempty"`
	InputLength  int      `json:"input_length"`
	OutputLength int      `json:"output_length"`
	HashIDs      []int64  `json:"hash_ids"`
}

// add writes a row.
func (r *rows) add(row *recording.Row) {
	text, err := json.Marshal(row)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.full.Load() || r.traffic == nil {
		r.dropped++
		return
	}
	if r.o.MaxBytes > 0 && r.size+int64(len(text)) > r.o.MaxBytes && r.size > 0 {
		err := r.closePart()
		r.part++
		if err == nil {
			err = r.next()
		}
		if err != nil {
			r.dropped++
			r.stop(err.Error() + "; requests are passed on, their rows are lost")
			return
		}
	}
	if r.traffic.Add(text) != nil {
		return // it is counted there
	}
	r.count.Add(1)
	r.size += int64(len(text)) + 1
	r.total += int64(len(text)) + 1
	if r.mooncake != nil && row.InputLength > 0 && row.Outcome == "ok" {
		length := row.OutputLength + row.ReasoningLength
		if row.UsageCompletion != nil && *row.UsageCompletion > 0 {
			length = int(*row.UsageCompletion)
		}
		m := mooncakeRow{SessionID: row.SessionID, Delay: row.ThinkMS, InputLength: row.InputLength,
			OutputLength: max(1, length), HashIDs: row.HashIDs}
		if m.Delay == nil {
			m.Timestamp = &row.TimestampMS
		}
		if line, err := json.Marshal(m); err == nil {
			_ = r.mooncake.Add(line)
		}
	}
	if r.o.TotalBytes > 0 && r.total > r.o.TotalBytes {
		r.stop(fmt.Sprintf("the recording has its %d bytes: requests are passed on and no longer recorded", r.o.TotalBytes))
	}
}

// stop ends the writing; r is locked.
func (r *rows) stop(why string) {
	if !r.full.Swap(true) {
		r.o.Warn(why)
	}
}

func (r *rows) closePart() error {
	if r.traffic == nil {
		return nil // the next part could not be opened
	}
	err := r.traffic.Close()
	_, dropped := r.traffic.Count()
	r.dropped += dropped
	r.traffic = nil
	if r.mooncake != nil {
		err = errors.Join(err, r.mooncake.Close())
		r.mooncake = nil
	}
	return err
}

// lost is the number of rows that were not written.
func (r *rows) lost() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.traffic == nil {
		return r.dropped
	}
	_, dropped := r.traffic.Count()
	return r.dropped + dropped
}

func (r *rows) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closePart()
}
