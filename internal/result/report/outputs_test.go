package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
)

// spooled writes records to a spool and returns its path.
func spooled(
	t *testing.T, s report.OutputsSpool, o artifact.LinesOptions, records ...*record.Record,
) (path string, omitted int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "outputs_spool.jsonl")
	s.Metrics = func(dst []byte, r *record.Record) []byte {
		if r.Err != nil {
			return append(dst, "{}"...)
		}
		return append(dst, `{"input_sequence_length":105,"request_latency":300.0}`...)
	}
	w, err := recordfile.Create(path, o, s.AppendLine)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		w.Add(r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, w.Omitted()
}

// outputs makes outputs.json of a spool.
func outputs(t *testing.T, o report.OutputsJSON) []byte {
	t.Helper()
	o.Path = filepath.Join(t.TempDir(), "outputs.json")
	if err := o.Export(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(o.Path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return data
}

func spoken(session int64, turn int, phase, text string) *record.Record {
	r := exchange()
	r.SessionNum, r.TurnIndex, r.Phase, r.Text = session, turn, phase, []byte(text)
	return r
}

func TestOutputsAreSortedAndWarmupStandsApart(t *testing.T) {
	bad := failed()
	bad.SessionNum = 1
	cut := spoken(9, 0, record.PhaseProfiling, "half")
	cut.Raw = &record.Raw{CutOff: true}
	path, _ := spooled(t, report.OutputsSpool{}, artifact.LinesOptions{},
		spoken(2, 0, record.PhaseProfiling, "third, \"quoted\"\n<b>é</b>"), bad,
		spoken(0, 1, record.PhaseWarmup, "warm 2"),
		spoken(0, 0, record.PhaseProfiling, "first"), spoken(0, 0, record.PhaseWarmup, "warm 1"),
		spoken(2, 1, record.PhaseProfiling, ""), cut)
	testkit.Golden(t, "testdata/outputs.json", outputs(t, report.OutputsJSON{Spool: path}))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the spool is still there")
	}
}

func TestEmptyOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"schema_version\": \"1.1\",\n  \"data\": [],\n  \"warmup\": []\n}\n"
	if got := string(outputs(t, report.OutputsJSON{Spool: path})); got != want {
		t.Errorf("got %q", got)
	}
	if err := (report.OutputsJSON{Spool: path + "none", Path: path + ".json"}).Export(context.Background(),
		nil); err != nil {
		t.Error(err)
	}
}

// Sorting in parts must not show, whatever their size: the file is the one of a single part.
func TestOutputsSortedInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var records []*record.Record
	for i := range 300 {
		phase := record.PhaseProfiling
		if random.IntN(4) == 0 {
			phase = record.PhaseWarmup
		}
		records = append(records, spoken(int64(random.IntN(60)), random.IntN(3), phase, fmt.Sprint("text ", i)))
	}
	path, _ := spooled(t, report.OutputsSpool{}, artifact.LinesOptions{}, records...)
	whole := outputs(t, report.OutputsJSON{Spool: path, Keep: true})
	for _, size := range []int64{1, 700, 5000, 60_000} {
		if got := outputs(t, report.OutputsJSON{Spool: path, Keep: true, SortBytes: size}); !bytes.Equal(got, whole) {
			t.Errorf("parts of %d bytes differ", size)
		}
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(whole, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, list := range []string{"data", "warmup"} {
		var entries []struct {
			Session int64 `json:"session_num"`
			Turn    int   `json:"turn_index"`
		}
		if err := json.Unmarshal(doc[list], &entries); err != nil {
			t.Fatal(err)
		}
		n += len(entries)
		if !slices.IsSortedFunc(entries, func(a, b struct {
			Session int64 `json:"session_num"`
			Turn    int   `json:"turn_index"`
		}) int {
			return int(a.Session-b.Session)*10 + a.Turn - b.Turn
		}) {
			t.Errorf("%s is not sorted", list)
		}
	}
	if n != len(records) {
		t.Errorf("%d entries of %d", n, len(records))
	}
}

func TestOutputsOfAKilledRun(t *testing.T) {
	path, _ := spooled(t, report.OutputsSpool{}, artifact.LinesOptions{},
		spoken(1, 0, record.PhaseProfiling, "one"), spoken(0, 0, record.PhaseProfiling, "two"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	got := outputs(t, report.OutputsJSON{Spool: path, Keep: true})
	// A file system that could not cut it off leaves a broken last line with an end.
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, append(slices.Clone(text[:len(text)-5]), '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := outputs(t, report.OutputsJSON{Spool: broken, Keep: true}); !bytes.Equal(again, got) {
		t.Errorf("got %s", again)
	}
	if err := os.WriteFile(broken, append([]byte("x\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (report.OutputsJSON{Spool: broken, Path: broken + ".json"}).Export(context.Background(),
		nil); err == nil {
		t.Error("a broken line amid others is accepted")
	}
	if !bytes.Contains(got, []byte(`"one"`)) || bytes.Contains(got, []byte(`"two"`)) {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestOutputsBeyondTheLimitAreCounted(t *testing.T) {
	told := 0
	o := artifact.LinesOptions{MaxBytes: 800, OnFull: func() { told++ }}
	var records []*record.Record
	for i := range 5 {
		records = append(records, spoken(int64(i), 0, record.PhaseProfiling, "some text"))
	}
	path, omitted := spooled(t, report.OutputsSpool{}, o, records...)
	got := outputs(t, report.OutputsJSON{Spool: path, Omitted: omitted})
	var doc struct {
		Data    []json.RawMessage
		Omitted int64
	}
	if err := json.Unmarshal(got, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Data) == 0 || doc.Omitted == 0 || len(doc.Data)+int(doc.Omitted) != len(records) || told != 1 {
		t.Errorf("%d entries, %d omitted, told %d times", len(doc.Data), doc.Omitted, told)
	}
}

func TestOutputsHoldNoSecrets(t *testing.T) {
	path, _ := spooled(t, report.OutputsSpool{Redactor: artifact.NewRedactor("sk-secret")}, artifact.LinesOptions{},
		spoken(0, 0, record.PhaseProfiling, "the key is sk-secret."))
	if got := outputs(t, report.OutputsJSON{Spool: path}); bytes.Contains(got, []byte("sk-secret")) ||
		!bytes.Contains(got, []byte("the key is <redacted>.")) {
		t.Errorf("got %s", got)
	}
}

func FuzzParseOutput(f *testing.F) {
	const around = `{"key":[0,12,2],"entry":{"b":2}}` + "\n" + `{"key":[0,12,4],"entry":{"c":3}}` + "\n" +
		`{"key":[1,0,0],"entry":{"d":4}}`
	f.Add([]byte(`{"key":[0,12,3],"entry":{"a":1}}`))
	f.Add([]byte(`{"key":[1,-5,0],"entry":{}}`))
	f.Add([]byte(`{"key":[],"entry":{}}`))
	f.Add([]byte(`{"key":[0,9223372036854775807,-9223372036854775808],"entry":{"a":1}}` + "\n" + around))
	f.Add([]byte(`{"key":[1,0,0],"entry":{"a":1}}` + "\n" + `{"key":[1,-5,0],"entry":{"b":2}}` + "\n" +
		`{"key":[0,1,0],"entry":{"c":3}}` + "\n" + `{"key":[0,1,-5],"entry":{"d":4}}` + "\n" + around))
	f.Add([]byte(around + "\n" + `{"key":[0,12,3],"entry":{"a":1}}` + "\n" + around))
	// A line is parsed, and written again for parts of the spool: with parts of one line the file is the same.
	f.Fuzz(func(t *testing.T, lines []byte) {
		dir := t.TempDir()
		spool := filepath.Join(dir, "spool")
		if err := os.WriteFile(spool, append(bytes.Clone(lines), '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		made := func(sortBytes int64) (string, error) {
			path := filepath.Join(dir, "outputs.json")
			o := report.OutputsJSON{Spool: spool, Path: path, Keep: true, SortBytes: sortBytes}
			if err := o.Export(context.Background(), nil); err != nil {
				return "", err
			}
			text, err := os.ReadFile(path)
			return string(text), err
		}
		whole, err := made(0)
		parts, errOfParts := made(1)
		if (err == nil) != (errOfParts == nil) || parts != whole {
			t.Errorf("%q: in one part %q (%v), in several %q (%v)", lines, whole, err, parts, errOfParts)
		}
	})
}
