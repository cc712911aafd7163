package files

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"aiperf/internal/workload/recording"
)

// maxWeka is the most sessions that are written as weka_trace, each of which is a file.
const maxWeka = 20_000

// wekaRequest is a request of the format weka_trace but for its time: lengths are tokens, times seconds.
type wekaRequest struct {
	Type        string   `json:"type"`
	Model       string   `json:"model"`
	In          int      `json:"in"`
	Out         int      `json:"out"`
	HashIDs     []int64  `json:"hash_ids"`
	InputTypes  []string `json:"input_types"`
	OutputTypes []string `json:"output_types"`
	Stop        string   `json:"stop"`
	APITime     float64  `json:"api_time"`
	ThinkTime   float64  `json:"think_time"`
	TTFT        *float64 `json:"ttft,omitempty"`
}

func wekaOf(row *recording.Row) wekaRequest {
	r := wekaRequest{Type: "n", Model: row.Model, In: row.InputLength, Out: row.ReplyTokens(), HashIDs: row.HashIDs,
		InputTypes: []string{"text"}, OutputTypes: []string{"text"}, Stop: row.StopReason, APITime: row.LatencyMS / 1000}
	if r.HashIDs == nil {
		r.HashIDs = []int64{}
	}
	if row.AfterTools {
		r.InputTypes = []string{typeToolResult}
	}
	if row.ToolCalls > 0 {
		r.OutputTypes = []string{typeToolUse}
	}
	if row.ThinkMS != nil {
		r.ThinkTime = *row.ThinkMS / 1000
	}
	if row.Stream {
		r.Type = "s"
		r.TTFT = new(0.0)
		if row.TTFTMS != nil {
			*r.TTFT = *row.TTFTMS / 1000
		}
	}
	return r
}

// WriteWeka makes weka_trace of the rows that lie in a folder, anew: a file for each session, because readers of that
// format take one document a file. A session can therefore be written only when it has ended, which nobody knows before
// the recording has; the rows on the disk are what survives a kill, and this can be done again. It returns the number
// of sessions, and of those that are beyond the limit. Memory is bounded whatever the rows are.
func WriteWeka(folder string) (sessions, left int, err error) {
	sorted := NewSorter(folder)
	defer sorted.Close()
	size, err := sortSessions(folder, sorted)
	if err != nil {
		return 0, 0, err
	}
	target := filepath.Join(folder, recording.WekaName)
	making := filepath.Join(folder, "."+recording.WekaName+".tmp")
	if err := errors.Join(os.RemoveAll(making), os.RemoveAll(target), os.Mkdir(making, 0o755)); err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(making)
	w := &wekaWriter{folder: making, size: size}
	if err := cmp.Or(sorted.Each(w.add), w.end()); err != nil {
		return 0, 0, err
	}
	if w.sessions == 0 {
		return 0, 0, nil
	}
	return w.sessions, w.left, os.Rename(making, target)
}

// sortSessions reads all parts in a folder; a key is the session and the time.
func sortSessions(folder string, to *Sorter) (blockSize int, err error) {
	parts, err := recording.Parts(folder)
	if err != nil {
		return 0, err
	}
	for _, path := range parts {
		err := recording.EachRow(path, func(head *recording.Head, row *recording.Row) error {
			blockSize = head.BlockSize
			if !row.OK() || row.InputLength <= 0 {
				return nil
			}
			request, err := json.Marshal(wekaOf(row))
			if err != nil {
				return err
			}
			key := binary.BigEndian.AppendUint64(append([]byte(row.SessionID), 0), uint64(int64(row.TimestampMS*1000)))
			value := binary.BigEndian.AppendUint64(nil, math.Float64bits(row.TimestampMS))
			value = binary.AppendUvarint(value, uint64(len(row.Model)))
			return to.Add(key, slices.Concat(value, []byte(row.Model), request))
		})
		if err != nil {
			return 0, err
		}
	}
	return blockSize, nil
}

// wekaWriter writes rows that come session by session.
type wekaWriter struct {
	folder         string
	size           int
	session        string
	first          float64 // the time of the session's first row in milliseconds
	file           *os.File
	out            *bufio.Writer
	models         []string
	sessions, left int
}

func (w *wekaWriter) add(key, value []byte) error {
	session := string(key[:len(key)-9])
	at := math.Float64frombits(binary.BigEndian.Uint64(value))
	n, length := binary.Uvarint(value[8:])
	model, request := string(value[8+length:8+length+int(n)]), value[8+length+int(n):]
	if session != w.session {
		if err := w.end(); err != nil {
			return err
		}
		w.session, w.first = session, at
		if w.sessions >= maxWeka {
			w.left++
			return nil
		}
		if err := w.begin(); err != nil {
			return err
		}
	} else if w.out != nil {
		w.out.WriteString(",\n")
	}
	if w.out == nil {
		return nil
	}
	if !slices.Contains(w.models, model) {
		w.models = append(w.models, model)
	}
	fmt.Fprintf(w.out, `{"t":%s,`, number((at-w.first)/1000))
	_, err := w.out.Write(request[1:])
	return err
}

// number writes seconds to the microsecond.
func number(seconds float64) []byte {
	text, _ := json.Marshal(math.Round(seconds*1e6) / 1e6) // it is finite
	return text
}

func (w *wekaWriter) begin() (err error) {
	w.sessions++
	if w.file, err = os.Create(filepath.Join(w.folder, w.session+".json")); err != nil {
		return err
	}
	w.out = bufio.NewWriter(w.file)
	fmt.Fprintf(w.out, `{"id":%q,"block_size":%d,"hash_id_scope":"local","tool_tokens":0,"system_tokens":0,"requests":[`,
		w.session, w.size)
	return nil
}

func (w *wekaWriter) end() error {
	if w.out == nil {
		return nil
	}
	models, err := json.Marshal(w.models)
	w.out.WriteString("],\n\"models\":")
	w.out.Write(models)
	w.out.WriteString("}\n")
	err = cmp.Or(err, w.out.Flush(), w.file.Close())
	w.out, w.file, w.models = nil, nil, nil
	return err
}

// wekaHead is what a session's file says of the whole; its requests come before the models, which are known at the end.
type wekaHead struct {
	ID           string          `json:"id"`
	BlockSize    int             `json:"block_size"`
	Scope        string          `json:"hash_id_scope"`
	ToolTokens   int             `json:"tool_tokens"`
	SystemTokens int             `json:"system_tokens"`
	Requests     []wekaRequest   `json:"requests"`
	Models       []string        `json:"models"`
	T            json.RawMessage `json:"t"` // of each request
}

// Lines are the types of the lines that are written beside the rows, whose tags name all their members.
func Lines() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[mooncakeRow](), reflect.TypeFor[wekaRequest](), reflect.TypeFor[wekaHead]()}
}

// Texts are the texts in these lines that are the same whatever was recorded.
func Texts() []string { return []string{"n", "s", "local", "text", typeToolResult, typeToolUse} }

// What a request brings and what its reply is made of, besides text.
const typeToolResult, typeToolUse = "tool_result", "tool_use"
