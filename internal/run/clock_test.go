package run

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
)

// TestNoStepOfTheSystemClockMovesAStamp: a run whose clock stands in the year 2001 has nothing of today in its records,
// raw exchanges, traces and scrapes. Whatever took the system's wall clock would move when that is set.
func TestNoStepOfTheSystemClockMovesAStamp(t *testing.T) {
	t.Parallel()
	const anchor = 1_000_000_000 * int64(time.Second)
	dir := t.TempDir()
	cfg := watching(t, dir, serve(t, mockserver.Options{TTFT: 2 * time.Millisecond, ITL: time.Millisecond}),
		"--streaming", "--concurrency", "2", "--request-count", "20",
		"--warmup-request-count", "2", "--export-level", "raw", "--export-http-trace", "--server-metrics-formats",
		"json", "jsonl",
		"--request-cancellation-rate", "20", "--slice-duration", "1")
	log := runlog.New(runlog.Options{})
	begin := time.Now()
	outcome, err := executeBy(context.Background(), cfg, Options{Version: "test", Log: log}, clock.NewAt(anchor))
	log.Close()
	if err != nil || outcome.Problem != nil {
		t.Fatal(err, outcome)
	}
	end := anchor + int64(time.Since(begin))
	stamps := map[string]int{}
	for _, name := range []string{"profile_export.jsonl", "profile_export_raw.jsonl", "profile_export_aiperf.json",
		"server_metrics_export.jsonl",
		"server_metrics_export.json", "profile_export_aiperf_timeslices.json"} {
		decoder := json.NewDecoder(bytes.NewReader(fileOf(t, dir, name)))
		decoder.UseNumber()
		for decoder.More() {
			var v any
			if err := decoder.Decode(&v); err != nil {
				t.Fatal(filepath.Join(dir, name), err)
			}
			instants := stampsIn(v, nil)
			stamps[name] += len(instants)
			for _, ns := range instants {
				if ns < anchor || ns > end {
					t.Errorf("%s has the instant %d", name, ns)
				}
			}
		}
	}
	for _, name := range []string{"profile_export.jsonl", "profile_export_raw.jsonl", "server_metrics_export.jsonl"} {
		if stamps[name] < 20 {
			t.Errorf("only %d stamps in %s", stamps[name], name)
		}
	}
	for i, s := range outcome.Result.Slices {
		if since := s.StartNS - outcome.Result.StartNS; since < 0 || since%int64(time.Second) != 0 {
			t.Errorf("slice %d starts %d ns after the phase", i, since)
		}
	}
	for what, ns := range map[string]int64{"start": outcome.Result.StartNS, "end": outcome.Result.EndNS} {
		if ns < anchor || ns > end {
			t.Errorf("%s of the run at %d", what, ns)
		}
	}
}

// stampsIn are the instants of a document: numbers under keys that end in _ns and are large enough for one.
func stampsIn(v any, found []int64) []int64 {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			n, ok := member.(json.Number)
			if !ok || !strings.HasSuffix(key, "_ns") {
				found = stampsIn(member, found)
				continue
			}
			if ns, err := n.Int64(); err == nil && ns > int64(100*24*time.Hour) {
				found = append(found, ns)
			}
		}
	case []any:
		for _, member := range v {
			found = stampsIn(member, found)
		}
	}
	return found
}
