package recording_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/recording"
)

func TestPartsAreInTheOrderOfTheirNumbers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"traffic-10000.jsonl", "traffic-0002.jsonl.zst", "traffic.jsonl", "traffic-x.jsonl",
		"mooncake_trace.jsonl", "traffic-0001.txt", "other-0001.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := recording.Parts(dir)
	for i := range parts {
		parts[i] = filepath.Base(parts[i])
	}
	if got := strings.Join(parts, " "); err != nil || got != "traffic.jsonl traffic-0002.jsonl.zst traffic-10000.jsonl" {
		t.Errorf("got %s, %v", got, err)
	}
	if parts, err := recording.Parts(filepath.Join(dir, "any.jsonl")); err == nil || len(parts) != 1 {
		t.Errorf("a file that is not there: got %v, %v", parts, err)
	}
}

func TestLookCountsAnsweredRequests(t *testing.T) {
	const text = `{"aiperf_recording":1,"keep":"hashes","tokenizer":"builtin","block_size":32,"part":0}
{"endpoint":"chat","model":"b","stream":true,"outcome":"ok"}
{"endpoint":"chat","model":"a","outcome":"ok"}
{"endpoint":"embeddings","model":"a","outcome":"ok"}
{"endpoint":"chat","model":"c","stream":true,"outcome":"error"}
{"endpoint":"ch`
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	about, ok := recording.Look(path)
	if !ok || about.Rows != 3 || about.Streams != 1 || about.BlockSize != 32 || about.Untimed {
		t.Errorf("got %v %+v", ok, about)
	}
	if got := strings.Join(recording.Most(about.Models), " "); got != "a b" {
		t.Errorf("models: got %s, want the most frequent first", got)
	}
	if got := strings.Join(recording.Most(about.Endpoints), " "); got != "chat embeddings" {
		t.Errorf("endpoints: got %s", got)
	}
	if err := os.WriteFile(path, []byte(`{"input_length":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if about, ok := recording.Look(path); ok {
		t.Errorf("another file: got %+v", about)
	}
}
