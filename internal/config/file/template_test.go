package file_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/file"
)

// TestCatalogue keeps every template complete: named as the specification names it, described, in a known category.
func TestCatalogue(t *testing.T) {
	want := map[string]string{
		"Getting Started": "minimal warmup_profiling",
		"Load Testing": "fixed_schedule goodput_slo latency_test multi_url_load_balancing ramping " +
			"request_cancellation time_based_soak",
		"Datasets":          "inline_dataset multi_turn_conversation public_dataset trace_replay",
		"Sweep & Multi-Run": "scenario_workload_profiles speed_bench_sweep sweep_distributions sweep_with_plot",
		"Advanced": "env_var_production gpu_telemetry http_trace_metrics jinja2_variables kv_cache_test " +
			"long_context user_files",
		"Multimodal":            "audio_multimodal multimodal_vision",
		"Specialized Endpoints": "embeddings",
	}
	got := map[string][]string{}
	for _, x := range file.Templates() {
		got[x.Category] = append(got[x.Category], x.Name)
		if x.Title == "" || x.Description == "" || len(x.Tags) == 0 || len(x.Features) == 0 {
			t.Errorf("%s lacks a line of its description: %+v", x.Name, x)
		}
		if !slices.Contains([]string{"beginner", "intermediate", "advanced"}, x.Difficulty) {
			t.Errorf("%s has the difficulty %q", x.Name, x.Difficulty)
		}
		if !strings.Contains(x.Text, "\nschema_version: \"2.0\"\n") || !strings.Contains(x.Text, "\nbenchmark:\n") {
			t.Errorf("%s has no schema_version or no benchmark", x.Name)
		}
		for _, f := range x.Files {
			if len(file.TemplateData(f)) == 0 || !strings.Contains(x.Text, "path: ./"+f+"\n") {
				t.Errorf("%s does not read %s", x.Name, f)
			}
		}
		for i, line := range strings.Split(x.Text, "\n") {
			if len(line) > 120 {
				t.Errorf("%s:%d has %d columns", x.Name, i+1, len(line))
			}
		}
	}
	for category, names := range want {
		if strings.Join(got[category], " ") != names {
			t.Errorf("%s has %v, want %s", category, got[category], names)
		}
	}
	if len(file.Templates()) != 27 || len(file.TemplateCategories()) != len(want) {
		t.Errorf("%d templates in %d categories", len(file.Templates()), len(file.TemplateCategories()))
	}
}

func TestACommentBlockHasKnownLines(t *testing.T) {
	for text, fault := range map[string]string{
		"benchmark:\n":                      `the first line is "benchmark:"`,
		"# @template\n# titel: A\n":         `the line "# titel: A"`,
		"# @template\n# title: A: b\n\n# x": "",
	} {
		got, err := file.ParseTemplate("x", text)
		switch {
		case fault == "" && (err != nil || got.Title != "A: b"):
			t.Errorf("%q: %+v, %v", text, got, err)
		case fault != "" && (err == nil || !strings.Contains(err.Error(), fault)):
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFind(t *testing.T) {
	for _, name := range []string{"kv_cache_test", "kv-cache-test", "KV_Cache_Test"} {
		if got, err := file.FindTemplate(name); err != nil || got.Name != "kv_cache_test" {
			t.Errorf("%s: %s, %v", name, got.Name, err)
		}
	}
	_, err := file.FindTemplate("minimial")
	if err == nil {
		t.Fatal("no error")
	}
	for _, x := range file.Templates() {
		if !strings.Contains(err.Error(), x.Name) {
			t.Errorf("the error does not list %s", x.Name)
		}
	}
	if !strings.Contains(err.Error(), `did you mean "minimal"?`) {
		t.Error(err)
	}
}

func names(list []file.Template) string {
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// TestSearch: hits in the name come first; title, description, category, tags and features are searched, in any case.
func TestSearch(t *testing.T) {
	for word, want := range map[string]string{
		"sweep":             "speed_bench_sweep sweep_distributions sweep_with_plot scenario_workload_profiles",
		"VISION":            "multimodal_vision",
		"sharegpt":          "public_dataset",
		"dcgm":              "gpu_telemetry",
		"pool of prefixes":  "kv_cache_test",
		"half a second":     "request_cancellation",
		"specialized":       "embeddings",
		"smallest":          "minimal",
		"kv-cache":          "kv_cache_test",
		"no such thing":     "",
		"benchmark:\n":      "",
		"schema_version: 2": "",
	} {
		if got := names(file.SearchTemplates(file.Templates(), word)); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
	got := names(file.TemplatesInCategory(file.Templates(), "MULTI-RUN"))
	if !strings.HasPrefix(got, "scenario_workload_profiles speed") {
		t.Error(got)
	}
	got = names(file.SearchTemplates(file.TemplatesInCategory(file.Templates(), "datasets"), "trace"))
	if got != "trace_replay" {
		t.Error(got)
	}
}
