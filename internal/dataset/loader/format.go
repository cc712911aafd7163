package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The formats that can be read.
const (
	singleTurn = "single_turn"
	multiTurn  = "multi_turn"
)

// rowReader is what reads one line of a format; nil if it cannot be read.
func rowReader(format string) func(l *load, line []byte) {
	switch format {
	case singleTurn:
		return (*load).singleTurn
	case multiTurn:
		return (*load).multiTurn
	}
	return nil
}

// unreadable are the formats that are recognised, so that the message can name them, and not read.
var unreadable = []string{
	"random_pool", "mooncake_trace", "bailian_trace", "burst_gpt_trace", "raw_payload", "inputs_json",
	"sagemaker_data_capture", "dag_jsonl", "baseten_trace", "weka_trace", "tracelab",
}

func isFormat(name string) bool {
	return name == singleTurn || name == multiTurn || slices.Contains(unreadable, name)
}

// chooseFormat is the readable format that the user named or the file shows.
func chooseFormat(path, format string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the input file cannot be read: %w", err)
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a directory: this release reads single files in the formats %s and %s", path, singleTurn, multiTurn)
	}
	if format == "" {
		if format, err = detect(path); err != nil {
			return "", err
		}
	}
	switch {
	case rowReader(format) != nil:
		return format, nil
	case isFormat(format):
		return "", fmt.Errorf("%s: %s files cannot be read by this release: use %s or %s", path, format, singleTurn, multiTurn)
	}
	return "", fmt.Errorf("unknown dataset format %q: want %s or %s", shorten(format), singleTurn, multiTurn)
}

var errFound = errors.New("found")

// detect tells the format from the first record.
func detect(path string) (string, error) {
	if format := formatByName(path); format != "" {
		return format, nil
	}
	number, first := 0, ""
	err := eachLine(path, func(n int, line []byte) error {
		number, first = n, string(line)
		return errFound
	})
	switch {
	case err == nil:
		return "", fmt.Errorf("%s contains no records", path)
	case err != errFound:
		return "", err
	}
	record, err := parseObject([]byte(first))
	if err != nil {
		if format := formatOfWhole(path, first); format != "" {
			return format, nil
		}
		return "", fmt.Errorf("%s:%d: %w", path, number, err)
	}
	formats := formatsOf(record)
	switch len(formats) {
	case 1:
		return formats[0], nil
	case 0:
		return "", fmt.Errorf("%s:%d: cannot tell the format from the first record, pass --custom-dataset-type", path, number)
	}
	return "", fmt.Errorf("%s:%d: the first record could be %s, pass --custom-dataset-type", path, number, strings.Join(formats, " or "))
}

func formatByName(path string) string {
	switch filepath.Ext(path) {
	case ".parquet", ".arrow", ".ipc":
		return "baseten_trace"
	}
	return ""
}

// formatOfWhole recognises files that are not JSON Lines.
func formatOfWhole(path, first string) string {
	if strings.Contains(first, "Timestamp") && strings.Contains(first, "Request tokens") && strings.Contains(first, "Response tokens") {
		return "burst_gpt_trace"
	}
	const enough = 64 << 20 // a larger document is not looked into
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var document map[string]json.RawMessage
	if json.NewDecoder(io.LimitReader(file, enough)).Decode(&document) != nil {
		return ""
	}
	o := &object{members: document}
	for _, f := range wholeFormats {
		if f.accepts(o) {
			return f.name
		}
	}
	return ""
}

type recognised struct {
	name    string
	accepts func(*object) bool
}

var wholeFormats = []recognised{
	{"inputs_json", isInputsJSON},
	{"weka_trace", isWeka},
}

// specific are the formats that also look like a more general one; the first that accepts wins.
var specific = []recognised{
	{"bailian_trace", func(o *object) bool { return o.hasAll("chat_id", "timestamp", "input_length", "output_length") }},
	{"sagemaker_data_capture", func(o *object) bool { return o.hasAll("captureData", "eventMetadata") }},
	{"inputs_json", isInputsJSON},
	{"weka_trace", isWeka},
	{"dag_jsonl", isDAG},
	{"mooncake_trace", func(o *object) bool {
		return o.isList("messages") && (o.has("output_length") || o.has("timestamp") || o.has("delay") || o.has("session_id") || o.has("message_mode"))
	}},
	{"raw_payload", func(o *object) bool { return o.isList("messages") && !o.has("conversation_id") && !o.isList("data") }},
}

// general are the formats that must not be mistaken for each other.
var general = []recognised{
	{singleTurn, func(o *object) bool {
		for _, m := range modalities {
			if o.has(m.singular) || o.has(m.plural) {
				return true
			}
		}
		return false
	}},
	{multiTurn, func(o *object) bool { return o.has("turns") }},
	{"mooncake_trace", func(o *object) bool { return o.has("input_length") || o.has("text_input") || o.has("payload") }},
}

// formatsOf is every format that the first record may belong to. Whether it is right in all its
// fields shows when it is read, so that a mistake there is reported as such.
func formatsOf(o *object) []string {
	var named string
	if json.Unmarshal(o.members["type"], &named) == nil && isFormat(named) {
		return []string{named}
	}
	for _, f := range specific {
		if f.accepts(o) {
			return []string{f.name}
		}
	}
	var formats []string
	for _, f := range general {
		if f.accepts(o) {
			formats = append(formats, f.name)
		}
	}
	return formats
}

func isInputsJSON(o *object) bool {
	var items []map[string]json.RawMessage
	if json.Unmarshal(o.members["data"], &items) != nil || len(items) == 0 {
		return false
	}
	return items[0]["payloads"] != nil
}

func isWeka(o *object) bool { return o.hasAll("requests", "hash_id_scope") }

func isDAG(o *object) bool {
	var turns []map[string]json.RawMessage
	if o.has("orchestrator") || o.has("pre_session_spawns") {
		return true
	}
	if json.Unmarshal(o.members["turns"], &turns) != nil || len(turns) == 0 {
		return false
	}
	return turns[0]["messages"] != nil
}
