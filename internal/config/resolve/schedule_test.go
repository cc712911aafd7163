package resolve

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/file"
)

func TestTrapDetectedTracesTurnTheScheduleOn(t *testing.T) {
	timed := configtest.WriteFile(t, "timed.jsonl",
		"{\"timestamp\":0,\"input_length\":5}\n{\"timestamp\":1,\"input_length\":5}\n")
	untimed := configtest.WriteFile(t, "untimed.jsonl", "{\"timestamp\":null,\"input_length\":5}\n")
	text := configtest.WriteFile(t, "text.jsonl", "{\"timestamp\":0,\"text\":\"a\"}\n")
	burst := configtest.WriteFile(t, "burst.csv", "Timestamp,Request tokens,Response tokens\n0.25,10,3\n0.5,10,3\n")
	for line, want := range map[string]config.Mode{
		"--input-file " + timed:                                                         config.FixedSchedule,
		"--input-file " + timed + " --no-fixed-schedule":                                config.Burst,
		"--input-file " + timed + " --ignore-trace-delays":                              config.Burst,
		"--input-file " + timed + " --no-fixed-schedule --request-rate 5":               config.Rate,
		"--input-file " + untimed:                                                       config.Burst,
		"--input-file " + text:                                                          config.Burst,
		"--input-file " + text + " --fixed-schedule":                                    config.FixedSchedule,
		"--input-file " + text + " --custom-dataset-type single_turn":                   config.Burst,
		"--input-file " + burst + " --custom-dataset-type burst_gpt_trace":              config.FixedSchedule,
		"--input-file " + timed + " --fixed-schedule --custom-dataset-type single_turn": config.FixedSchedule,
	} {
		run, _ := mustResolve(t, "-m m "+line)
		ph := run.Profiling()
		if ph.Mode != want || (ph.Schedule != nil) != (want == config.FixedSchedule) {
			t.Errorf("%s: mode %s, schedule %v", line, ph.Mode, ph.Schedule)
		}
		if ph.Schedule != nil && (ph.Requests != nil || ph.Concurrency != nil) {
			t.Errorf("%s: the rows of the file limit the replay: %+v", line, ph)
		}
	}
	run, _ := mustResolve(t, "-m m --custom-dataset-type burst_gpt_trace --input-file "+burst)
	if rows := run.Profiling().Schedule.Rows; rows != 2 {
		t.Errorf("%d rows, the header is none", rows)
	}
	run, _ = mustResolve(t, "-m m --request-count 1 --input-file "+timed)
	if n := run.Profiling().Requests; n == nil || *n != 1 {
		t.Errorf("a request count that was given must hold: %v", n)
	}
}

func TestPackedTracesTurnTheScheduleOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	packed.Write([]byte("{\"timestamp\":0,\"input_length\":5}\n{\"timestamp\":1,\"input_length\":5}\n"))
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	file.Close()
	run, _ := mustResolve(t, "-m m --custom-dataset-type mooncake_trace --input-file "+path)
	if s := run.Profiling().Schedule; s == nil || s.Rows != 2 {
		t.Errorf("schedule %+v", s)
	}
}

func TestScheduleInTheExportedConfiguration(t *testing.T) {
	file := configtest.WriteFile(t, "timed.jsonl", "{\"timestamp\":0,\"input_length\":5}\n")
	run, warnings := mustResolve(t,
		"-m m --fixed-schedule --fixed-schedule-start-offset 0 --fixed-schedule-end-offset 7 --request-rate 5 "+
			"--isl-block-size 16 --synthesis-speedup-ratio 2 --synthesis-max-isl 9 --input-file "+file)
	configtest.WantText(t, "warnings", configtest.Texting(warnings),
		"--request-rate has no effect with --fixed-schedule")
	text := inputConfigText(t, run)
	configtest.WantText(t, "input_config", text, `"type":"fixed_schedule"`, `"requests":1`, `"auto_offset":false`,
		`"start_offset":0`, `"end_offset":7`,
		`"block_size":16`, `"synthesis":{"speedup_ratio":2.0,"max_isl":9}`)
	series := configtest.WriteFile(t, "series.json", `[{"time_s":0,"qps":5},{"time_s":1,"qps":10}]`)
	run, _ = mustResolve(t, "-m m --request-rate-series "+series)
	configtest.WantText(t, "input_config", inputConfigText(t, run),
		`"rate_series":[{"time_s":0.0,"qps":5.0},{"time_s":1.0,"qps":10.0}]`)
}

func inputConfigText(t *testing.T, run *config.Run) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, file.Exported(run))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
