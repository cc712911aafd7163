package loader

import (
	"encoding/json"
	"slices"
	"testing"
)

var commonRows = []string{
	`{"timestamp": 0, "input_length": 1200, "output_length": 52, "hash_ids": [0, 1, 2]}`,
	`{"session_id":"x","delay":40.25,"input_length":32,"output_length":8,"type":"mooncake_trace"}`,
	`{"input_length":1,"hash_ids":[],"timestamp":0.5,"session_id":""}`,
	`{"input_length":5,"hash_ids":[-3,9007199254740993]}`,
	`{"group_id":3,"other":"text","input_length":7}`,
}

var rareRows = []string{
	`{"input_length":1e3}`, `{"input_length":1.0}`, `{"input_length":01}`, `{"input_length":0}`, `{"input_length":-1}`,
	`{"input_length":null}`,
	`{"input_length":5,"input_length":5}`, `{"session_id":"\u0041","input_length":5}`,
	`{"session_id":"é","input_length":5}`, `{"timestamp":-0,"input_length":5}`,
	`{"timestamp":1.,"input_length":5}`, `{"timestamp":9e15,"input_length":5}`, `{"hash_ids":[1,],"input_length":5}`,
	`{"hash_ids":[1.0],"input_length":5}`,
	`{"hash_ids":[99999999999999999999],"input_length":5}`, `{"input_length":5}x`, `{"input_length":5`, `{}`, `[1]`,
	`{"text_input":"a"}`, `{"type":"single_turn","input_length":5}`,
	`{"timestamp":00.5,"input_length":5}`, `{"input_length":5,}`, "{\"session_id\":\"a\tb\",\"input_length\":5}",
}

func TestTheScannerTakesTheCommonRows(t *testing.T) {
	var r scannedRow
	r.unknown = map[string]bool{"group_id": true, "other": true}
	for _, line := range commonRows {
		if !r.scan([]byte(line)) {
			t.Errorf("left to the strict reader: %s", line)
		}
		agrees(t, &r, line)
	}
	for _, line := range rareRows {
		agrees(t, &r, line)
	}
}

// agrees compares what the scanner accepts with the strict reader.
func agrees(t *testing.T, r *scannedRow, line string) {
	t.Helper()
	if !r.scan([]byte(line)) || r.has&hasInput == 0 {
		return
	}
	f, _ := lookupFormat(mooncakeTrace)
	l := &lineReader{faults: faults{path: "f"}, format: f, options: &Options{}}
	o, session, ok := l.object([]byte(line), mooncakeKeys)
	if !ok {
		t.Fatalf("accepted %q, which is refused: %v", line, l.mistakes)
	}
	var want row
	if err := want.mooncakeFields(o); err != nil {
		t.Fatalf("accepted %q, which is refused: %v", line, err)
	}
	got := r.row()
	if session != string(r.session) || got.tokens != want.tokens || !slices.Equal(got.ids, want.ids) ||
		!sameJSON(got.turn, want.turn) {
		t.Fatalf("%q: got %+v, want %+v", line, got, want)
	}
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func FuzzTheScannerAgreesWithTheStrictReader(f *testing.F) {
	for _, line := range append(commonRows, rareRows...) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var r scannedRow
		agrees(t, &r, line)
	})
}

func BenchmarkScan(b *testing.B) {
	line := []byte(commonRows[0])
	var r scannedRow
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !r.scan(line) {
			b.Fatal("refused")
		}
	}
}
