package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

// recordingOfTwo has two requests of completions, streamed, and one of embeddings.
const recordingOfTwo = `{"aiperf_recording":1,"started_at":"2026-11-30T10:00:00Z","keep":"hashes","tokenizer":"builtin","block_size":16}
{"endpoint":"completions","model":"a","stream":true,"outcome":"ok"}
{"endpoint":"completions","model":"b","stream":true,"outcome":"ok"}
{"endpoint":"embeddings","model":"b","outcome":"ok"}
`

func TestARecordingSaysWhatTheUserLeavesOpen(t *testing.T) {
	path := configtest.WriteFile(t, "traffic.jsonl", recordingOfTwo)
	untimed := configtest.WriteFile(t, "untimed.jsonl", strings.Replace(recordingOfTwo, `"block_size":16`,
		`"block_size":16,"untimed":true`, 1))
	for line, want := range map[string]struct {
		endpoint       string
		streams, force bool
		mode           config.Mode
		auto, whole    bool
	}{
		path: {"completions", true, true, config.FixedSchedule, true, false},
		path + " --endpoint-type embeddings --streaming=false":  {"embeddings", false, false, config.FixedSchedule, true, false},
		path + " --no-force-min-tokens":                         {"completions", true, false, config.FixedSchedule, true, false},
		path + " --fixed-schedule-start-offset 5":               {"completions", true, true, config.FixedSchedule, false, false},
		path + " --no-fixed-schedule --concurrency 2":           {"completions", true, true, config.Burst, false, true},
		path + " --no-fixed-schedule --request-count 9":         {"completions", true, true, config.Burst, false, false},
		path + " --inter-turn-delay-cap-seconds 1 --users ×2.5": {"completions", true, true, config.FixedSchedule, true, false},
		untimed: {"completions", true, true, config.Burst, false, true},
	} {
		run, _ := mustResolve(t, "-m m --custom-dataset-type aiperf_recording --input-file "+line)
		ph, played := run.Profiling(), run.Dataset.Played
		if run.Endpoint.Type != want.endpoint || run.Endpoint.Streaming != want.streams || !played.Is ||
			played.ForceLength != want.force || played.Model != "m" {
			t.Errorf("%s: endpoint %s, streams %v, played %+v", line, run.Endpoint.Type, run.Endpoint.Streaming, played)
		}
		if ph.Mode != want.mode || ph.Whole != want.whole || ph.Schedule != nil && ph.Schedule.AutoOffset != want.auto {
			t.Errorf("%s: phase %+v, schedule %+v", line, ph, ph.Schedule)
		}
		if users := run.Dataset.Synthesis.Users; strings.Contains(line, "×2.5") && users != 2.5 {
			t.Errorf("%s: %v times as many users", line, users)
		}
	}
	if got := strings.Join(RecordedModels(mustParse(t, "--url localhost:1 --input-file "+path)), " "); got != "b a" {
		t.Errorf("models: got %q, want the most frequent first", got)
	}
	if got := RecordedModels(mustParse(t, "-m m --url localhost:1 --input-file "+path)); got != nil {
		t.Errorf("a model is named, and got %q", got)
	}
}
