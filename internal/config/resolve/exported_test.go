package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/file"
)

func TestInputConfigHasOnlyKeysOfTheSchema(t *testing.T) {
	data := configtest.WriteFile(t, "data.jsonl", `{"text":"hello"}`+"\n")
	trace := configtest.WriteFile(t, "trace.jsonl", `{"timestamp":0,"input_length":5}`+"\n")
	series := configtest.WriteFile(t, "series.json", `[{"time_s":0,"qps":5},{"time_s":1,"qps":10}]`)
	for _, c := range []struct {
		name string
		args []string
		want []string
		// further is what stands in FurtherConfig.
		further string
	}{
		{"seed and entries", []string{"--random-seed", "7", "--request-count", "9"},
			[]string{`"entries":100,"random_seed":7`, `"models":{"items":[{"name":"m"}]}`, `"name":"main"`}, ""},
		{"spreads", []string{"--isl", "10", "--osl", "4", "--osl-stddev", "2"},
			[]string{`"prompts":{"isl":{"mean":10.0},"osl":{"mean":4.0,"stddev":2.0}}`}, ""},
		{"phases", []string{"--warmup-request-count", "2", "--request-count", "3"},
			[]string{`{"name":"warmup","kind":"warmup","type":"concurrency","exclude_from_results":true,"requests":2`,
				`{"name":"profiling","kind":"profiling","type":"concurrency","requests":3`}, ""},
		{"audio in kHz", []string{"--audio-length-mean", "1", "--audio-sample-rates", "16,44.1"},
			[]string{`"sample_rates":[16,44.1]`, `"length":{"mean":1.0}`}, ""},
		{"sound of a video in kHz", []string{"--video-width", "64", "--video-height", "64",
			"--video-audio-num-channels", "1", "--video-audio-sample-rate", "48000"}, []string{`"sample_rate":48.0`},
			""},
		{"a file", []string{"--input-file", data, "--custom-dataset-type", "single_turn", "--osl", "5"},
			[]string{`"format":"single_turn"`, `"osl":{"mean":5.0}`}, ""},
		{"a recording", []string{"--input-file", trace, "--custom-dataset-type", "mooncake_trace", "--fixed-schedule",
			"--isl-block-size", "16", "--synthesis-max-isl", "9"},
			[]string{`"block_size":16`, `"synthesis":{"max_isl":9}`, `"type":"fixed_schedule"`}, ""},
		{"a series of rates", []string{"--request-rate-series", series},
			[]string{`"rate_series":[{"time_s":0.0,"qps":5.0}`}, ""},
		{"the network", []string{"--network-latency-mean", "0.5"},
			[]string{`"network_latency":{"enabled":true,"mean_ms":0.5}`}, ""},
		{"a window of lengths", []string{"--isl", "10", "--random-range-ratio", "0.5"},
			[]string{`"random_range_ratio":"0.5"`}, ""},
		{"telemetry", []string{"--otel-url", "h:1", "--stream", "timing"},
			[]string{`"stream_metrics_enabled":false,"stream_timing_enabled":true`}, ""},
		{"what the schema lacks", []string{"--http2", "--percentiles", "99.9", "--source-address", "127.0.0.1", "--url",
			"127.0.0.1:1"}, nil,
			`{"endpoint":{"source_addresses":["127.0.0.1"],"http2":true},"artifacts":{"percentiles":[99.9]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, _ := mustResolve(t, "-m m '"+strings.Join(c.args, "' '")+"'")
			text := jsonText(t, file.Exported(run))
			configtest.WantText(t, "input_config", text, c.want...)
			for _, key := range []string{"cli_command", "benchmark_id", "simultaneous_start"} {
				if strings.Contains(text, `"`+key+`"`) {
					t.Errorf("%s is in %s", key, text)
				}
			}
			if strings.HasSuffix(text, `"random_seed":7}`) {
				t.Errorf("a seed beside the datasets: %s", text)
			}
			if further := file.ExportedFurther(run); c.further != "" && jsonText(t, further) != c.further ||
				c.further == "" &&
					len(further) > 0 {
				t.Errorf("further %s, want %s", jsonText(t, further), c.further)
			}
		})
	}
}

func jsonText(t *testing.T, o artifact.Object) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
