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
