package foreign_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/result/foreign"
	"aiperf/internal/result/summary"
)

// figures reads the only run that a path names.
func figures(t *testing.T, path string) summary.Figures {
	t.Helper()
	f, err := summary.ReadFigures(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFiguresAreThoseOfTheFiles reads files that the tools wrote, of a mock server with 20 ms to the first token and 5 ms
// between tokens (interop/foreign makes them anew). The values are those of the files, in our units.
func TestFiguresAreThoseOfTheFiles(t *testing.T) {
	for _, of := range []struct {
		path, origin string
		// want has values by metric and statistic; NaN is one that must be absent.
		want map[string]float64
	}{
		{"vllm/vllm.json", "vllm bench serve", map[string]float64{
			"time_to_first_token p99": 24.116940779993, "time_to_first_token p50": 22.01272299998891,
			"inter_token_latency avg": 4.996923938332809, "inter_chunk_latency p50": 5.221810999955778,
			"request_latency std": 0.8862370682614377, "request_count avg": 40, "error_request_count avg": 0,
			"output_token_throughput avg": 654.3690143510295, "total_token_throughput avg": 3279.002232849612,
			"goodput avg": 40.89806339693934, "benchmark_duration avg": 0.9780414200001815, "total_isl avg": 2567,
			"input_sequence_length avg": 64.175, "input_sequence_length p50": math.NaN(),
			"time_to_first_token min": math.NaN(), "time_to_second_token avg": math.NaN(),
		}},
		{"vllm/detailed.json", "vllm bench serve", map[string]float64{ // --save-detailed has what the totals lack
			"time_to_first_token p99": 26.326481939952373, "time_to_first_token max": 26.41803799997433,
			"inter_token_latency std": 0.037565311700819254, "input_sequence_length max": 66,
			"request_latency count": 20, "goodput avg": math.NaN(),
		}},
		{"vllm/rate.json", "vllm bench serve", map[string]float64{"request_throughput avg": 18.222487477252233}},
		{"sglang/sglang.jsonl#2", "SGLang bench_serving", map[string]float64{
			"time_to_first_token p90": 30.42445350001799, "inter_chunk_latency p99": 18.07705535007699,
			"request_latency avg": 99.23248443749344, "input_token_throughput avg": 2460.1037302248887,
			"error_request_count avg": math.NaN(), "request_error_rate avg": math.NaN(),
		}},
		{"sglang/details.jsonl", "SGLang bench_serving", map[string]float64{"error_request_count avg": 0,
			"output_sequence_length p50": 16, "time_to_first_token p99": 136.96023105010224}},
		{"guidellm/benchmarks.json#2", "GuideLLM 0.8.1", map[string]float64{
			"time_to_first_token p99": 22.417545318603516, "time_to_first_token p99.9": 22.417545318603516,
			"time_to_first_token p1": 20.65420150756836, "request_latency p50": 96.6644287109375,
			"request_throughput avg": 38.48303070895762, "request_throughput p50": math.NaN(), "request_count avg": 24,
			"request_error_rate avg": 0,
		}},
		{"genai-perf", "GenAI-Perf", map[string]float64{ // the folder; its export has the same requests
			"request_throughput avg": 40.26776383786427, "request_latency p99": 109.00745445,
			"time_to_second_token p50": 4.3484915, "inter_token_latency avg": 5.002165124999999,
			"error_request_count avg": math.NaN(),
		}},
		{"genai-perf/profile_export.json", "Perf Analyzer 2.59.0", map[string]float64{"request_count avg": 8,
			"time_to_first_token max": 29.820707, "inter_token_latency avg": math.NaN()}},
		{"inference-perf/stage_1_lifecycle_metrics.json", "inference-perf", map[string]float64{
			"time_to_first_token p99.9": 58.206636088175195, "time_to_first_token p50": 21.322601000065333,
			"output_token_throughput avg": 253.26048387848058, "error_request_count avg": 0,
			"input_sequence_length avg": 64, "total_isl avg": 3072,
		}},
		{"inference-perf/per_request_lifecycle_metrics.json", "inference-perf", map[string]float64{
			"request_count avg": 8, "request_latency max": 109.92591700005505, "output_sequence_length avg": 16}},
		{"llm-d/vllm-0.1.yaml", "vllm bench serve", map[string]float64{
			"time_to_first_token p99": 24.116940779993, "inter_chunk_latency std": 0.48745808767492177,
			"output_token_throughput avg": 654.3690143510295, "request_count avg": math.NaN()}},
		{"llm-d/vllm-0.2.yaml", "vllm bench serve", map[string]float64{
			"time_to_first_token p99": 24.116940779993, "inter_token_latency avg": 4.996923938332809,
			"request_count avg": 40, "request_error_rate avg": 0}},
	} {
		t.Run(of.path, func(t *testing.T) {
			f := figures(t, filepath.Join("testdata", filepath.FromSlash(of.path)))
			if got := f.Origin.String(); !strings.HasPrefix(got, of.origin) {
				t.Errorf("origin %q, want %q", got, of.origin)
			}
			for name, want := range of.want {
				tag, stat, _ := strings.Cut(name, " ")
				b, _ := f.Find(tag)
				got, ok := b.Stats[stat]
				if ok == math.IsNaN(want) || ok && math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s is %v (%t), want %v", name, got, ok, want)
				}
			}
		})
	}
}

// TestLoadsAreThoseOfTheFiles reads what was asked.
func TestLoadsAreThoseOfTheFiles(t *testing.T) {
	for _, of := range []struct{ path, want string }{
		{"vllm/vllm.json", "mock-model chat concurrency 4"},
		{"vllm/rate.json", "mock-model chat 20 req/s poisson"},
		{"sglang/sglang.jsonl#1", " chat concurrency 1"},
		{"sglang/details.jsonl", " chat 20 req/s poisson"},
		{"guidellm/benchmarks.json#1", "mock-model chat concurrency 1"},
		{"genai-perf/profile_export_genai_perf.json", "mock-model chat concurrency 4"},
		{"inference-perf/stage_0_lifecycle_metrics.json", "mock-model completions 8 req/s constant"},
		{"llm-d/vllm-0.2.yaml", "  concurrency 4"},
	} {
		data, err := summary.ReadDocument(filepath.Join("testdata", filepath.FromSlash(of.path)))
		if err != nil {
			t.Fatal(err)
		}
		c := summary.ParseConfigured(jsonscan.Find(data, "input_config"))
		if got := strings.Join(c.Models, ", ") + " " + c.EndpointType + " " + c.Load; got != of.want {
			t.Errorf("%s: %q, want %q", of.path, got, of.want)
		}
	}
}

// TestFoldersHaveEachRunOnce: what one file of a folder repeats of another one is left out.
func TestFoldersHaveEachRunOnce(t *testing.T) {
	for _, of := range []struct {
		folder string
		want   []string
	}{
		{"guidellm", []string{"benchmarks.json#1", "benchmarks.json#2"}},
		{"genai-perf", []string{"profile_export_genai_perf.json"}},
		{"inference-perf", []string{"stage_0_lifecycle_metrics.json", "stage_1_lifecycle_metrics.json"}},
		{"vllm-sweep/BENCH--max_concurrency=4", []string{"run=0.json", "run=1.json"}},
	} {
		paths, faults := foreign.In(filepath.Join("testdata", filepath.FromSlash(of.folder)))
		var got []string
		for _, path := range paths {
			got = append(got, filepath.Base(path))
		}
		if len(faults) > 0 || !slices.Equal(got, of.want) {
			t.Errorf("%s: %v (%v), want %v", of.folder, got, faults, of.want)
		}
	}
}

// TestBrokenFilesAreNamed: a file that begins like a result and is none has one clear error.
func TestBrokenFilesAreNamed(t *testing.T) {
	whole, err := os.ReadFile("testdata/vllm/vllm.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ name, text, want string }{
		{"cut.json", string(whole[:900]), "looks like a result of vllm bench serve, and cannot be read: not a JSON document"},
		{"none.json", `{"date": "x", "model_id": "m", "num_prompts": 1}`, "no duration"},
		{"lines.jsonl", `{"backend": "sglang", "dataset_name": "random", "request_rate": 1, "duration": 1, "completed": 1, ` +
			"\"mean_ttft_ms\": 5}\n{\"backend\": \"sglang\"}\n", "line 2: it has no duration"},
		{"guide.json", `{"metadata": {"guidellm_version": "1"}}`, "no list of benchmarks"},
		{"stage.json", `{"load_summary": {"count": 1}}`, "no successes"},
		{"report.yaml", "version: '0.9'\nscenario: {}\nresults: {request_performance: {}}\n", `its version is "0.9"`},
		{"report2.yaml", "version: [\nscenario: {}\n", "not a YAML document"},
	} {
		path := filepath.Join(t.TempDir(), of.name)
		if err := os.WriteFile(path, []byte(of.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := foreign.Read(path)
		if err == nil || !strings.Contains(err.Error(), of.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", of.name, err, of.want)
		}
	}
	if _, err := foreign.Read("testdata/guidellm/benchmarks.json#3"); err == nil ||
		!strings.Contains(err.Error(), "has 2 runs") {
		t.Errorf("a part that is not there: %v", err)
	}
	if _, err := summary.ReadFigures("testdata/sglang/sglang.jsonl"); err == nil ||
		!strings.Contains(err.Error(), "sglang.jsonl#1") {
		t.Errorf("several runs where one is needed: %v", err)
	}
}

// TestOtherFilesAreNoResults: summaries of this program and of the original, and files of other kinds.
func TestOtherFilesAreNoResults(t *testing.T) {
	for name, text := range map[string]string{
		"ours.json":     `{"schema_version": "1", "aiperf_version": "0.1.0", "request_latency": {"unit": "ms", "avg": 1}}`,
		"original.json": `{"request_throughput": {"unit": "requests/sec", "avg": 1}, "input_config": {"endpoint": {}}}`,
		"other.json":    `{"date": "today", "duration": 1}`,
		"deploy.yaml":   "version: 2\nservices: {}\n",
		"empty.json":    "",
		"run.txt":       `{"date": "x", "model_id": "m", "num_prompts": 1}`,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if foreign.Is(path) {
			t.Errorf("%s counts as a result of another tool", name)
		}
	}
}

// TestFailedRequestsAreLeftOut: the lists of --save-detailed and --output-details have an entry for them, too.
func TestFailedRequestsAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(`{"tag": null, "backend": "sglang", "dataset_name": "random", "request_rate": `+
		`Infinity, "duration": 2.0, "completed": 2, "total_input_tokens": 20, "total_output_tokens": 6, `+
		`"mean_ttft_ms": NaN, "input_lens": [10, 10, 10], "output_lens": [3, 0, 3], "ttfts": [0.01, 0.0, 0.03], `+
		`"itls": [[0.002, 0.004], [], [0.001, 0.001]], "errors": ["", "NaN: \"Infinity\"", ""]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := figures(t, path)
	for name, want := range map[string]float64{"time_to_first_token min": 10, "time_to_first_token avg": 20,
		"inter_token_latency max": 3, "request_latency max": 32, "error_request_count avg": 1,
		"request_error_rate avg": 100. / 3} {
		tag, stat, _ := strings.Cut(name, " ")
		b, _ := f.Find(tag)
		if got := b.Stats[stat]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestReportsOfLLMDAreReadBack: what is written of a run is read with equal figures.
func TestReportsOfLLMDAreReadBack(t *testing.T) {
	for _, path := range []string{"vllm/detailed.json", "guidellm/benchmarks.json#1",
		"inference-perf/stage_0_lifecycle_metrics.json"} {
		from := filepath.Join("testdata", filepath.FromSlash(path))
		document, err := summary.ReadDocument(from)
		if err != nil {
			t.Fatal(err)
		}
		report, err := foreign.LLMD(document)
		if err != nil {
			t.Fatal(err)
		}
		text, err := artifact.AppendIndented(nil, report)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, b := figures(t, from), figures(t, to)
		if a.Origin.Tool != b.Origin.Tool {
			t.Errorf("%s: origin %v, was %v", path, b.Origin, a.Origin)
		}
		compared := 0
		for _, of := range b.Blocks {
			was, _ := a.Find(of.Tag)
			for stat, v := range of.Stats {
				compared++
				if w, ok := was.Stats[stat]; !ok || math.Abs(v-w) > 1e-9*max(1, math.Abs(w)) {
					t.Errorf("%s: %s %s is %v, was %v", path, of.Tag, stat, v, w)
				}
			}
		}
		if compared < 30 {
			t.Errorf("%s: only %d figures", path, compared)
		}
	}
}
