package file_test

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/file"
	"aiperf/internal/config/settings"
)

// lookup has no variables.
func lookup(string) (string, bool) { return "", false }

const minimal = `benchmark:
  model: my/model
  endpoint: {url: "http://localhost:8000"}
  dataset: {type: synthetic, isl: 512, osl: 128}
  phases: {type: concurrency, concurrency: 8, requests: 100}
`

// faultsOf reads a file and returns what is wrong with it.
func faultsOf(t *testing.T, text string) string {
	t.Helper()
	s, err := file.Open("bench.yaml", []byte(text), lookup)
	if err == nil {
		_, _, err = s.Settings(s.Raw, file.Options{})
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMinimalFile(t *testing.T) {
	s, err := file.Open("bench.yaml", []byte(minimal), lookup)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := s.Settings(s.Raw, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.ModelNames.Get(); len(got) != 1 || got[0] != "my/model" {
		t.Errorf("models %q", got)
	}
	if len(p.Phases) != 1 || p.Phases[0].Name != "profiling" {
		t.Fatalf("phases %+v", p.Phases)
	}
	ph := p.Phases[0]
	if n := ph.Concurrency.Pointer(); n == nil || *n != 8 {
		t.Errorf("concurrency %v", n)
	}
	if n := ph.ISL.Pointer(); n == nil || *n != 512 {
		t.Errorf("isl %v", n)
	}
	if from := ph.Concurrency.Origin().Name; !strings.HasPrefix(from, "bench.yaml:5:") {
		t.Errorf("concurrency is of %q", from)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a key of a phase", strings.Replace(minimal, "requests", "concurency", 1), "did you mean concurrency"},
		{"no stop", strings.Replace(minimal, ", requests: 100", "", 1), "no stop condition"},
		{"a template endpoint without a template", strings.Replace(minimal, "{url:", "{type: template, url:", 1),
			"benchmark.endpoint.type: template needs endpoint.template"},
		{"stored responses without the server's count", strings.Replace(minimal, "{url:",
			"{type: responses, extra: {store: true}, url:", 1), "store: true needs use_server_token_count"},
		{"two files of one name", minimal + "  artifacts: {prefix: outputs.json, export_outputs_json: true}\n",
			"benchmark.artifacts.prefix: outputs.json would give another file"},
		{"a batch outside of pools", strings.Replace(minimal, "{type: synthetic, isl: 512, osl: 128}",
			"{type: file, path: bench.yaml, prompt_batch_size: 2}", 1), "belongs to the format random_pool"},
		{"a repository of another set", strings.Replace(minimal, "{type: synthetic, isl: 512, osl: 128}",
			"{type: public, dataset: sharegpt, hf_weka_dataset: a/b}", 1), "belongs to the dataset weka_hf alone"},
	} {
		if got := faultsOf(t, c.text); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestValuesOfSecretVariablesAreHidden(t *testing.T) {
	text := strings.Replace(minimal, "url:", `headers: {X-Trace: "${TRACE_TOKEN}", X-Other: "${PLAIN}"}, url:`, 1)
	s, err := file.Open("bench.yaml", []byte(text), func(name string) (string, bool) {
		return "value of " + name, true
	})
	if err != nil {
		t.Fatal(err)
	}
	p, tree, err := s.Settings(s.Raw, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []*settings.Settings{p, p.Phases[0].Settings} {
		if want := []string{"value of TRACE_TOKEN"}; !slices.Equal(own.Hidden, want) {
			t.Errorf("hidden are %q, want %q", own.Hidden, want)
		}
	}
	hidden := strings.NewReplacer("value of TRACE_TOKEN", "-")
	shown := file.Hide(file.Complete(tree, nil), hidden.Replace)
	headers := file.Body(shown).Get("endpoint").Get("headers")
	if got := headers.Get("X-Trace").Written + headers.Get("X-Other").Written; got != "-value of PLAIN" {
		t.Errorf("headers are shown as %q", got)
	}
}
