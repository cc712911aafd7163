package report_test

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/report"
)

func inputsOf(inputs ...report.Input) iter.Seq2[report.Input, error] {
	return func(yield func(report.Input, error) bool) {
		for _, i := range inputs {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func inputsText(t *testing.T, redactor *artifact.Redactor, inputs ...report.Input) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs.json")
	if err := report.WriteInputs(path, redactor, 0, inputsOf(inputs...)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(data) {
		t.Fatalf("not JSON: %s", data)
	}
	return string(data)
}

func TestInputsGolden(t *testing.T) {
	got := inputsText(t, artifact.NewRedactor("sk-secret-1"),
		report.Input{SessionID: "s 0", Payload: []byte(`{"messages":[{"role":"user","content":"Zürich <1>"}],"stop":null,"big":12345678901234567890,"f":1e-3,"empty":[],"o":{"a":null}}`)},
		report.Input{SessionID: "s 0", Payload: []byte(`{"messages":[],"list":[null,1]}`)},
		report.Input{SessionID: "s \"1\"", Payload: []byte(`{"key":"sk-secret-1"}`)},
		report.Input{SessionID: "t", Payload: []byte(`{}`)},
		report.Input{SessionID: "t", Payload: []byte(`{}`), Headers: []record.Header{{Name: "X-Tenant", Value: "<t>"},
			{Name: "Authorization", Value: "Bearer k"}, {Name: "X-Note", Value: "of sk-secret-1"}}},
		report.Input{SessionID: "t", Payload: []byte(`{}`)},
		report.Input{SessionID: "form", Payload: []byte("--boundary\r\n")},
	)
	testkit.Golden(t, "testdata/inputs.json", []byte(got))
}

func TestInputsOfAnEmptyDataset(t *testing.T) {
	if got, want := inputsText(t, nil), "{\n  \"data\": []\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInputsAreLaidOutLikeTheOtherDocuments compares the streamed layout with that of the encoder.
func TestInputsAreLaidOutLikeTheOtherDocuments(t *testing.T) {
	payload := json.RawMessage(`{"a":[1,{"b":{}}],"c":"d"}`)
	got := inputsText(t, nil, report.Input{SessionID: "s0", Payload: payload}, report.Input{SessionID: "s0", Payload: payload}, report.Input{SessionID: "s1", Payload: payload})
	want, err := artifact.AppendIndented(nil, artifact.Object{{Key: "data", Value: []any{
		artifact.Object{{Key: "session_id", Value: "s0"}, {Key: "payloads", Value: []any{payload, payload}}},
		artifact.Object{{Key: "session_id", Value: "s1"}, {Key: "payloads", Value: []any{payload}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want)+"\n" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFormattingErrorIsTellable(t *testing.T) {
	dir := t.TempDir()
	bad := errors.New("turn 3 has no text")
	err := report.WriteInputs(filepath.Join(dir, "inputs.json"), nil, 0, func(yield func(report.Input, error) bool) {
		if yield(report.Input{SessionID: "s", Payload: []byte("{}")}, nil) {
			yield(report.Input{}, bad)
		}
	})
	var payload *report.PayloadError
	if !errors.As(err, &payload) || !errors.Is(err, bad) {
		t.Errorf("error is %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v was left behind", entries)
	}
	err = report.WriteInputs(filepath.Join(dir, "missing", "inputs.json"), nil, 0, inputsOf())
	if err == nil || errors.As(err, &payload) || !strings.Contains(err.Error(), "inputs.json") {
		t.Errorf("error is %v", err)
	}
}

func TestInputsBeyondTheLimitAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "inputs.json")
	big := report.Input{SessionID: "s", Payload: []byte(`"` + strings.Repeat("x", 100) + `"`)}
	if err := report.WriteInputs(path, nil, 300, inputsOf(big, big)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteInputs(path, nil, 300, inputsOf(big, big, big)); !errors.Is(err, report.ErrInputsTooLarge) {
		t.Errorf("error is %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v was left behind", entries)
	}
}
