package file_test

import (
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/file"
)

// Short forms come out of a complete configuration written out.
func TestCompleteWritesShortFormsOut(t *testing.T) {
	const text = `benchmark:
  model: m
  endpoint: {url: "localhost:8000", reset_kv_cache: true, server_profiler: false}
  dataset: {prompts: {sequence_distribution: [{isl: 3, isl_stddev: 1, osl: 4, probability: 100}]}}
  phases:
    type: concurrency
    concurrency: 8
    duration: 60
    adaptive_scale: {sustain_duration: 5, max_concurrency: 20, sla: {request_latency: {p95: {le: 100}}}}
  artifacts: {user_files: [{path: a, content: b}, {path: c, content: {d: 1}}]}
`
	s, err := file.Open("bench.yaml", []byte(text), lookup)
	if err != nil {
		t.Fatal(err)
	}
	_, tree, err := s.Settings(s.Raw, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := artifact.AppendJSON(nil, file.Complete(tree, nil).Any())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(data)), "")
	for _, want := range []string{
		`"urls":["http://localhost:8000"]`, `"reset_kv_cache":{}`, `"isl":{"mean":3.0,"stddev":1.0},"osl":{"value":4.0},`,
		`"adaptive_scale":true`, `"adaptive_control_max":20.0`, `"adaptive_sustain_duration":5.0`,
		`"sla":[{"metric_tag":"request_latency","stat":"p95","op":"le","threshold":100.0}]`,
		`"path":"a","content":"b","format":"text"`, `"path":"c","content":{"d":1},"format":"json"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "server_profiler") {
		t.Error("a profiler that is off is there")
	}
}

// What exports carry of a run is completed with the defaults of the format; keys that the original does not know stay
// out.
func TestCompleteBodyHasEveryDefault(t *testing.T) {
	body := artifact.Object{
		{Key: "models", Value: artifact.Object{{Key: "items", Value: []any{artifact.Object{{Key: "name", Value: "m"}}}}}},
		{Key: "endpoint", Value: artifact.Object{{Key: "urls", Value: []any{"http://h:1"}}, {Key: "timeout", Value: 5.0}}},
		{Key: "datasets", Value: []any{artifact.Object{{Key: "name", Value: "main"}, {Key: "type", Value: "synthetic"},
			{Key: "prompts", Value: artifact.Object{{Key: "isl", Value: artifact.Object{{Key: "mean", Value: 16.0}}}}}}}},
		{Key: "phases", Value: []any{artifact.Object{{Key: "name", Value: "profiling"}, {Key: "kind", Value: "profiling"},
			{Key: "type", Value: "concurrency"}, {Key: "concurrency", Value: 2}}}},
	}
	data, err := artifact.AppendJSON(nil, file.CompleteBody(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeout":5.0`, `"url_strategy":"round_robin"`, `"isl":{"mean":16.0,"stddev":0.0}`,
		`"connection_reuse":"pooled"`, `"concurrency":2`, `"seamless":false`, `"formats":[`, `"ping_interval":1.0`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
	if strings.Contains(string(data), "fail_fast") {
		t.Errorf("a key of ours in %s", data)
	}
}
