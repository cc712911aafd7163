package schema_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/schema"
)

// instance is a Go value as the validator takes it.
func instance(t *testing.T, v any) any {
	t.Helper()
	text, err := artifact.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compiled is the JSON Schema; compiling it checks it against the draft that it names.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("aiperf.schema.json", instance(t, schema.JSON())); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("aiperf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if s.DraftVersion != 2020 {
		t.Errorf("draft %d", s.DraftVersion)
	}
	return s
}

// read is a file as the validator takes it.
func read(t *testing.T, text string) any {
	t.Helper()
	f, err := document.Read("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return instance(t, f.Root.Any())
}

func TestJSONSchemaAcceptsEveryTemplate(t *testing.T) {
	s := compiled(t)
	for _, tmpl := range file.Templates() {
		if err := s.Validate(read(t, tmpl.Text)); err != nil {
			t.Errorf("%s: %v", tmpl.Name, err)
		}
	}
}

func TestJSONSchemaOfSmallFiles(t *testing.T) {
	s := compiled(t)
	const phases = "benchmark: {model: m, endpoint: {url: h}, dataset: {}, phases: "
	for _, c := range []struct {
		name, text string
		valid      bool
	}{
		{"the smallest", phases + "{type: concurrency, requests: 5}}\n", true},
		{"a reference for a number", phases + "{type: concurrency, requests: '${N:5}'}}\n", true},
		{"an expression for a number", phases + "{type: concurrency, requests: '{{ n }}'}}\n", true},
		{"a distribution", "benchmark: {dataset: {isl: {mean: 5, stddev: 1}}}\n", true},
		{"warm-up and profiling", "benchmark: {warmup: {type: concurrency}, profiling: {type: concurrency}}\n", true},
		{"a time", "benchmark: {profiling: {type: concurrency, duration: 5 min}}\n", true},
		{"camelCase", "multiRun: {numRuns: 3}\nbenchmark: {endpoint: {apiKey: k}, serverMetrics: {enabled: false}}\n", true},
		{"a wrong value in camelCase", "multiRun: {numRuns: 99}\n", false},
		{"a grid", "sweep: {type: grid, parameters: {phases.profiling.concurrency: [1, 2]}, sameSeed: true}\n", true},
		{"an unknown key of a sweep", "sweep: {type: grid, paramters: {}}\n", false},
		{"an unknown planner", "sweep: {type: adaptive_search, planner: luck}\n", false},
		{"names of models", "benchmark: {models: [a, b]}\n", true},
		{"an unknown key of a phase", phases + "{type: concurrency, concurency: 5}}\n", false},
		{"an unknown key of the endpoint", "benchmark: {endpoint: {ulr: h}}\n", false},
		{"an unknown key of pictures", "benchmark: {dataset: {images: {widht: 5}}}\n", false},
		{"an unknown type of phase", phases + "{type: made_up}}\n", false},
		{"a list for a number", phases + "{type: concurrency, requests: [5, 6]}}\n", false},
		{"a number below its limit", phases + "{type: concurrency, requests: 0}}\n", false},
		{"a wrong unit", "benchmark: {profiling: {type: concurrency, duration: 5d}}\n", false},
	} {
		if err := s.Validate(read(t, c.text)); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestJSONSchemaHasEveryKey looks each key of the table up below its section, whatever form the section takes.
func TestJSONSchemaHasEveryKey(t *testing.T) {
	count := 0
	var walk func(k schema.Key, node any, path string)
	walk = func(k schema.Key, node any, path string) {
		for _, f := range k.Fields {
			found := property(node, f.Name)
			if found == nil {
				t.Errorf("%s%s is not in the JSON Schema", path, f.Name)
				continue
			}
			count++
			walk(f, found, path+f.Name+".")
		}
	}
	walk(schema.Envelope(), instance(t, schema.JSON()), "")
	if count < 250 {
		t.Errorf("%d keys", count)
	}
}

// property finds the schema of a key below that of a mapping, a list of mappings, or a choice with one of them.
func property(node any, name string) any {
	m, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	if properties, ok := m["properties"].(map[string]any); ok && properties[name] != nil {
		return properties[name]
	}
	if found := property(m["items"], name); found != nil {
		return found
	}
	choices, _ := m["anyOf"].([]any)
	for _, c := range choices {
		if found := property(c, name); found != nil {
			return found
		}
	}
	return nil
}

func TestNamesTurnIntoOneAnother(t *testing.T) {
	var walk func(k schema.Key)
	walk = func(k schema.Key) {
		for _, f := range k.Fields {
			if camel := schema.Camel(f.Name); schema.Snake(camel) != f.Name || strings.Contains(camel, "_") {
				t.Errorf("%s, %s, %s", f.Name, camel, schema.Snake(camel))
			}
			walk(f)
		}
	}
	walk(schema.Envelope())
}
