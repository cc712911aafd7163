package anonymize

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recording"
)

// formatOf is the format of an input: that which the user named, else one of ours; "" = the loader detects it.
func (r *reader) formatOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || r.o.Format != "" {
		return r.o.Format, err
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, recording.TrafficName)); err == nil {
			return formatRecording, nil
		}
		return "", nil
	}
	format := ""
	found := errors.New("found")
	err = loader.Each(context.Background(), path, 0, func(_ int, line []byte) error {
		switch {
		case jsonscan.Find(line, "aiperf_recording") != nil:
			format = formatRecording
		case jsonscan.Find(line, "start_perf_ns") != nil && jsonscan.Find(line, "metadata") != nil:
			format = formatRaw
		}
		return found
	})
	if err != nil && !errors.Is(err, found) {
		return "", nil // the loader knows better what it is
	}
	return format, nil
}

// recording reads what aiperf record wrote: of a recording with texts they are counted and hashed, rows of another one
// are taken as they are, under other names of their sessions.
func (r *reader) recording(path string) error {
	parts, err := recording.Parts(path)
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("%s holds no %s", path, recording.TrafficName)
	}
	for _, part := range parts {
		err = cmp.Or(err, recording.EachRow(part, r.recorded))
	}
	return err
}

// recorded takes a row of a recording in.
func (r *reader) recorded(head *recording.Head, from *recording.Row) error {
	r.Records++
	if err := r.keeps(head); err != nil {
		return err
	}
	r.words.Add(from.Request, true)
	said := []string{from.Model, from.SessionID, from.Endpoint, from.Outcome, from.StopReason, from.Incomplete}
	for _, text := range said {
		r.words.Add([]byte(text), false)
	}
	for name, value := range from.Sampling {
		r.words.Add([]byte(name), false)
		r.words.Add(value, true)
	}
	made := *from
	if head.Keep == recording.KeepText && len(from.Request) > 0 {
		r.hashed = true
		x := &row.Exchange{Endpoint: from.Endpoint, Request: from.Request}
		if from.Reply != nil {
			r.words.Add([]byte(*from.Reply), false)
			made.OutputLength = r.o.Tokenizer.Count(*from.Reply)
		}
		described, _ := r.maker.Describe(x)
		made.InputLength, made.HashIDs = described.InputLength, described.HashIDs
		made.Sampling, made.Tools, made.Images = described.Sampling, described.Tools, described.Images
	}
	r.memory.Clean(&made)
	if r.Keep == recording.KeepLengths {
		made.HashIDs = nil
	}
	if made.ThinkMS = nil; head.Untimed {
		made.ThinkMS = from.ThinkMS
	}
	at := float64(head.StartedAt.UnixMicro())/1000 + from.TimestampMS
	if head.Untimed {
		at = nan
	}
	return r.add(&made, r.memory.Named(head.StartedAt.String()+from.SessionID), at, from.LatencyMS)
}

// keeps decides what is written where a recording holds no texts.
func (r *reader) keeps(head *recording.Head) error {
	switch {
	case head.Keep == recording.KeepText:
		return nil
	case head.Keep == recording.KeepLengths || r.o.Keep == recording.KeepLengths:
		r.Keep = recording.KeepLengths
		return nil
	case r.decided && r.BlockSize != head.BlockSize:
		return fmt.Errorf("recordings with blocks of %d and of %d tokens cannot be joined: anonymize each alone, or with "+
			"--keep lengths", r.BlockSize, head.BlockSize)
	}
	r.decided, r.BlockSize = true, head.BlockSize
	return nil
}

// rawRecord is a line of profile_export_raw.jsonl.
type rawRecord struct {
	Metadata struct {
		Conversation string `json:"conversation_id"`
		Correlation  string `json:"x_correlation_id"`
		StartNS      int64  `json:"request_start_ns"`
		EndNS        int64  `json:"request_end_ns"`
		Cancelled    bool   `json:"was_cancelled"`
	} `json:"metadata"`
	StartPerfNS int64           `json:"start_perf_ns"`
	Payload     json.RawMessage `json:"payload"`
	Status      int             `json:"status"`
	Responses   []struct {
		PerfNS  int64  `json:"perf_ns"`
		Text    string `json:"text"`
		Type    string `json:"content_type"`
		Packets []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"packets"`
	} `json:"responses"`
	Error json.RawMessage `json:"error"`
}

// rawRecords reads the raw records of a run.
func (r *reader) rawRecords(ctx context.Context, path string) error {
	return loader.Each(ctx, path, 0, func(number int, line []byte) error {
		r.Records++
		r.words.Add(line, true)
		var from rawRecord
		if err := json.Unmarshal(line, &from); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if len(from.Payload) == 0 || from.Payload[0] != '{' {
			r.Without++
			return nil
		}
		// A conversation is played more than once; the correlation is that of one play.
		x := &row.Exchange{Request: from.Payload, Status: from.Status, Outcome: "ok",
			Session: from.Metadata.Conversation + "\x00" + from.Metadata.Correlation}
		switch {
		case from.Metadata.Cancelled:
			x.Outcome = "cancelled"
		case jsonscan.Find(line, "error") != nil && !jsonscan.IsNull(from.Error):
			x.Outcome = "error"
		}
		took := float64(from.Metadata.EndNS-from.Metadata.StartNS) / 1e6
		x.Took = duration(took)
		from.reply(x)
		x.Endpoint = row.EndpointOf(from.Payload, x.Reply)
		r.words.Add(x.Reply, true)
		made, thread := r.maker.Describe(x)
		r.hashed = true
		return r.add(made, thread, float64(from.Metadata.StartNS)/1e6, took)
	})
}

// reply puts the reply together again, as it came.
func (f *rawRecord) reply(x *row.Exchange) {
	var body bytes.Buffer
	for _, piece := range f.Responses {
		for _, p := range piece.Packets {
			x.ContentType = "text/event-stream"
			body.WriteString(strings.TrimPrefix(p.Name, "comment") + ": " + p.Value + "\n")
		}
		if len(piece.Packets) > 0 {
			body.WriteByte('\n')
		}
		body.WriteString(piece.Text)
		if x.ContentType == "" {
			x.ContentType = piece.Type
		}
		x.Reads = append(x.Reads, row.Read{End: body.Len(), At: time.Duration(piece.PerfNS - f.StartPerfNS)})
	}
	if x.ContentType == "" {
		x.ContentType = "application/json"
	}
	x.Reply = body.Bytes()
}

var nan = math.NaN()
