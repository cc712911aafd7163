package file_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/resolve"
	"aiperf/internal/run"
)

// FuzzSettings holds that no file makes the reader panic, that its faults are a list that names the file, and that what
// it accepts can be completed and read again.
func FuzzSettings(f *testing.F) {
	for _, t := range file.Templates() {
		f.Add([]byte(t.Text))
	}
	for _, text := range []string{
		bench(), bench("phases: [{name: a, kind: profiling, type: user_centric, rate: 1, users: 2, sessions: 4}]"),
		bench("phases: {type: concurrency, duration: 5m, adaptive_scale: {control: {min: 1, max: 8}, sla: {a: {p95: " +
			"{lt: 5}}}}}"),
		bench("dataset: {type: file, format: random_pool, records: {a: [{text: b}]}}", "/multi_run: {num_runs: 2}"),
		bench("artifacts: {user_files: [{path: a, content: {b: [1]}}]}", "gpu_telemetry: false", "server_metrics: h:1"),
		bench("phases: {type: poisson, rate_series: [{time_s: 0, qps: 1}, {time_s: 1, qps: 2}], requests: 5}"),
		bench("dataset: {isl: {peaks: [{mean: 1}, {points: [{value: 1}]}]}, turns: {min: 1, mean: 2}}"),
		"model: m\ndataset: {}\nbenchmark: {models: {items: [{name: [a]}]}}\n", "benchmark: {phases: [null, 1, {}]}\n",
		"benchmark: {datasets: [{type: file, records: 5}], model: {items: 5}, endpoint: 5, phases: 7}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		source, err := file.Open("bench.yaml", text, configtest.Environ())
		if err != nil {
			named(t, err)
			return
		}
		_, tree, err := source.Settings(source.Raw, file.Options{NoFiles: true})
		if err != nil {
			named(t, err)
			return
		}
		written := document.AppendYAML(nil, file.Complete(tree, nil), 0)
		if _, err := document.Read("again.yaml", written); err != nil {
			t.Fatalf("%v\nof:\n%s", err, written)
		}
	})
}

// named checks that an error is a list of faults with text.
func named(t *testing.T, err error) {
	t.Helper()
	var list fault.List
	if !errors.As(err, &list) || len(list) == 0 || strings.Contains(err.Error(), "runtime error") {
		t.Fatalf("%T: %v", err, err)
	}
	for _, f := range list {
		if !strings.Contains(f.Message, "bench.yaml") {
			t.Fatalf("no file in %q", f.Message)
		}
	}
}

// BenchmarkFile reads and resolves a file of a thousand lines with references, templates and many phases.
func BenchmarkFile(b *testing.B) {
	var text strings.Builder
	text.WriteString(`random_seed: 5
variables:
  base: 16
  double: "{{ base * 2 }}"
benchmark:
  model: m
  endpoint:
    url: http://h:1
    headers:
`)
	lines := 8
	for ; lines < 200; lines++ {
		fmt.Fprintf(&text, "      X-Header-%d: value\n", lines)
	}
	text.WriteString("  dataset: {isl: {mean: 512, stddev: 10}, osl: 128}\n  phases:\n")
	for i := 0; lines < 1000; i, lines = i+1, lines+8 {
		fmt.Fprintf(&text, `    - name: step%d
      # what it is for
      kind: profiling
      type: poisson
      rate: "{{ double * 2 }}"
      duration: ${DURATION:30s}
      grace_period: 5
      concurrency: 8
`, i)
	}
	data := []byte(text.String())
	b.ReportAllocs()
	for b.Loop() {
		source, err := file.Open("bench.yaml", data, configtest.Environ())
		if err != nil {
			b.Fatal(err)
		}
		p, _, err := source.Settings(source.Raw, file.Options{NoFiles: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := resolve.Resolve(p, run.Catalog{}); err != nil {
			b.Fatal(err)
		}
	}
}
