package run

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/mockserver"
)

// schemas are the published ones by the file that they describe.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	out := map[string]*jsonschema.Schema{}
	for file, name := range map[string]string{
		"profile_export_aiperf.json": "profile_export_aiperf", "profile_export.jsonl": "profile_export",
		"run_state.json":        "run_state",
		"outputs.json":          "outputs",
		"accuracy_export.jsonl": "accuracy_export",
	} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schemas",
			name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		out[file] = schema
	}
	return out
}

// documents of a file: one, or one a line.
func documents(t *testing.T, file string, data []byte) []any {
	t.Helper()
	parts := [][]byte{data}
	if strings.HasSuffix(file, ".jsonl") {
		parts = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	}
	var out []any
	for _, part := range parts {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(part))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, doc)
	}
	return out
}

func TestFilesOfGradedAnswersKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	var problems strings.Builder
	for i := range 20 {
		fmt.Fprintf(&problems, `{"question":"What is %d plus 1?","answer":"#### %d"}`+"\n", i, i+1)
	}
	data := filepath.Join(t.TempDir(), "problems.jsonl")
	if err := os.WriteFile(data, []byte(problems.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, mockserver.Options{ErrorRate: 30})
	dir := profile(t, url, "--accuracy-benchmark", "gsm8k", "--accuracy-data", data, "--accuracy-repeats", "3",
		"--concurrency", "4")
	all := schemas(t)
	for _, file := range []string{"profile_export_aiperf.json", "run_state.json", "accuracy_export.jsonl"} {
		for _, doc := range documents(t, file, fileOf(t, dir, file)) {
			if err := all[file].Validate(doc); err != nil {
				t.Errorf("%s: %v", file, err)
				break
			}
		}
	}
}

func TestFilesKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	delete(all, "accuracy_export.jsonl") // of which these runs have none
	url := serve(t, mockserver.Options{ErrorRate: 30, SpecTokens: 3, SpecAcceptance: 0.5})
	for _, args := range [][]string{
		{"--streaming", "--concurrency", "3", "--warmup-request-count", "3", "--goodput",
			"request_latency:5 time_to_first_token:1", "--percentiles", "99.9",
			"--export-http-trace", "--random-seed", "3", "--slice-duration", "1"},
		{"--request-rate", "300", "--request-cancellation-rate", "30", "--network-latency-mean", "0.01",
			"--use-server-token-count"},
		{"--conversation-turn-mean", "2", "--export-level", "raw"},
		{"--gpu-telemetry", url + "/dcgm1/metrics"},
	} {
		dir := profile(t, url, append([]string{"--isl", "5", "--osl", "3", "--request-count", "30",
			"--export-outputs-json"}, args...)...)
		for file, schema := range all {
			for _, doc := range documents(t, file, fileOf(t, dir, file)) {
				if err := schema.Validate(doc); err != nil {
					t.Errorf("%v: %s: %v", args, file, err)
					break
				}
			}
		}
		for file := range all {
			text := fileOf(t, dir, file)
			if file == "outputs.json" {
				text = bytes.ReplaceAll(text, []byte(`"response_text": null`), nil)
			}
			if nullValue.Match(text) {
				t.Errorf("%v: %s holds a null", args, file)
			}
		}
	}
}

// nullValue finds an explicit null; no text of these runs holds one.
var nullValue = regexp.MustCompile(`[:\[,]\s*null\b`)

// A schema that accepts anything would prove nothing: each of these changes must break it.
func TestSchemasRefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	dir := profile(t, serve(t, mockserver.Options{}), "--streaming", "--isl", "5", "--osl", "3", "--request-count", "3",
		"--export-outputs-json")
	for file, changes := range map[string][]func(map[string]any){
		"profile_export_aiperf.json": {
			func(o map[string]any) { delete(o, "run_info") },
			func(o map[string]any) { o["was_cancelled"] = "no" },
			func(o map[string]any) { o["new_member"] = true },
			func(o map[string]any) { o["request_latency"].(map[string]any)["p99"] = nil },
			func(o map[string]any) { o["request_latency"].(map[string]any)["mean"] = 1 },
			func(o map[string]any) { o["provenance"].(map[string]any)["config_sha256"] = "abc" },
			func(o map[string]any) { o["is_complete"] = false },
		},
		"profile_export.jsonl": {
			func(o map[string]any) { delete(o, "facts") },
			func(o map[string]any) { o["facts"].(map[string]any)["end"] = 1.5 },
			func(o map[string]any) { delete(o["metadata"].(map[string]any), "request_start_ns") },
			func(o map[string]any) { o["metadata"].(map[string]any)["benchmark_phase"] = "warmup" },
			func(o map[string]any) { o["metrics"].(map[string]any)["request_latency"] = 3 },
		},
		"outputs.json": {
			func(o map[string]any) { delete(o, "warmup") },
			func(o map[string]any) { o["omitted"] = 0 },
			func(o map[string]any) { o["data"].([]any)[0].(map[string]any)["response_text"] = "" },
			func(o map[string]any) {
				o["data"].([]any)[0].(map[string]any)["metrics"].(map[string]any)["output_sequence_length"] = 1.5
			},
		},
		"run_state.json": {
			func(o map[string]any) { o["status"] = "asleep" },
			func(o map[string]any) { delete(o, "metrics_config") },
			func(o map[string]any) { o["new_member"] = 1 },
		},
	} {
		for i, change := range changes {
			doc := documents(t, file, fileOf(t, dir, file))[0].(map[string]any)
			if err := all[file].Validate(doc); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			change(doc)
			if all[file].Validate(doc) == nil {
				t.Errorf("%s: change %d is accepted; members: %v", file, i, slices.Sorted(maps.Keys(doc)))
			}
		}
	}
}
