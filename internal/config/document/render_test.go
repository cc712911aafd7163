package document_test

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/config/document"
)

// rendered reads and renders a text that has to be right.
func rendered(t *testing.T, text string) *document.Node {
	t.Helper()
	f := read(t, text)
	root, err := document.Render(f, f.Root)
	if err != nil {
		t.Fatalf("%v\nof:\n%s", err, text)
	}
	return root
}

func TestTrapTheTypeOfWhatATemplateMakes(t *testing.T) {
	for template, want := range map[string]string{
		"{{ a // 10 }}":          `51`,
		"{{ a / 2 }}":            `256.0`,
		"{{ a > 500 }}":          `true`,
		"{{ a < 500 }}":          `false`,
		"{{ 'x' }}{{ a }}":       `"x512"`,
		"1{{ 0 }}":               `10`,
		"{{ '' }}":               `""`,
		"{{ none }}":             `"None"`,
		"{{ 2.5 | round }}":      `2.0`,
		"{{ [a, 3] | min }}":     `3`,
		"{% if a %}x{% endif %}": `"x"`,
		"{% if a > 600 %}x{% else %}7{% endif %}": `7`,
		"{{ a }} {{ '{' }}":                       `"512 {"`,
	} {
		root := rendered(t, "variables: {a: 512}\nb: \""+template+"\"\n")
		if got := asJSON(root.Get("b")); got != want {
			t.Errorf("%s: got %s, want %s", template, got, want)
		}
	}
}

func TestTrapTheEnvironmentComesBeforeTemplates(t *testing.T) {
	f := read(t, "variables: {base: 16}\nbenchmark:\n  dataset:\n    entries: \"{{ base * '${MULT:10}' | int }}\"\n")
	if err := document.Environment(f, lookup(nil)); err != nil {
		t.Fatal(err)
	}
	root, err := document.Render(f, f.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(root.Get("benchmark").Get("dataset").Get("entries")); got != "160" {
		t.Errorf("got %s", got)
	}
	if got := asJSON(f.Root.Get("benchmark").Get("dataset").Get("entries")); got != `"{{ base * '10' | int }}"` {
		t.Errorf("the tree that was read is no copy: %s", got)
	}
}

func TestTrapVariablesReferToOneAnother(t *testing.T) {
	root := rendered(t, `variables: {a: "{{ b + 1 }}", b: 2, c: "{{ a * 10 + variables.b }}", d: {e: "{{ c }}"},
		f: "{{ variables['d'].e }}"}`)
	if got, want := asJSON(root), `{"variables":{"a":3,"b":2,"c":32,"d":{"e":32},"f":32}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		`{a: "{{ b }}", b: "{{ a }}"}`:                    "circular reference among variables: a, b",
		`{x: "{{ c }}", c: "{{ b }}", b: "{{ x or 1 }}"}`: "circular reference among variables: b, c, x",
		`{y: "{{ a }}", a: "{{ a + 1 }}"}`:                ":1:30: variables.a: the template \"{{ a + 1 }}\": circular",
	} {
		f, err := document.Read("f.yaml", []byte("variables: "+text+"\nb: \"{{ a }}\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := document.Render(f, f.Root); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Count(err.Error(), "f.yaml") != 1 {
			t.Errorf("%s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestTrapBlocksAreRenderedAndOpenBracketsAreFaults(t *testing.T) {
	for text, want := range map[string]string{
		`"{{ a"`:         "the template \"{{ a\": {{ has no closing }}",
		`"{% if a"`:      "{% has no closing %}",
		`"{{ a }} {{ b"`: "{{ has no closing }}",
		`"{% if a %}x"`:  "the template \"{% if a %}x\": ",
		`"{{ nosuch }}"`: "f.yaml:3:6: b.c: the template \"{{ nosuch }}\": nosuch is not defined; names are the keys " +
			"of variables and the paths of the file's values\n" +
			"  3 |   c: \"{{ nosuch }}\"\n    |      ^",
		`"{{ variable.x }}"`:            "variable is not defined; did you mean variables?",
		`"{{ variables.x }}"`:           "variables.x is not defined",
		`"{{ a | nosuch }}"`:            "filter 'nosuch' not found",
		`"{{ d.e }}"`:                   "d.e: the value is a template itself: put what both need under variables",
		`"{{ 1 + d.e }}"`:               "the value is a template itself",
		`"{{ a + 'x' }}"`:               "number + text cannot be computed",
		`"{% include '/etc/passwd' %}"`: "a template cannot read files",
	} {
		f, err := document.Read("f.yaml", []byte("variables: {a: 1}\nb:\n  c: "+text+"\nd: {e: '{{ a }}'}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := document.Render(f, f.Root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestTemplatesKnowAllValuesByPath(t *testing.T) {
	root := rendered(t, `
random_seed: 7
variables: {endpoint: shadow, n: 3}
benchmark:
  model: m
  endpoint: {urls: ["http://h"], timeout: 5}
  phases:
    - {name: warmup, rate: 1}
    - {name: profiling, rate: 50, nested: {deep: x}}
  artifacts:
    dir: "./{{ model }}-{{ benchmark.model }}-{{ random_seed }}"
    prefix: "{{ endpoint }}-{{ benchmark.endpoint.urls[0] }}"
    a: "{{ phases.profiling.rate + phases[0].rate }}"
    b: "{{ benchmark.phases.profiling.nested.deep }}{{ phases | length }}{{ variables.n }}"
    c: "{% for p in phases %}{{ p.name }} {% endfor %}"
`)
	got := asJSON(root.Get("benchmark").Get("artifacts"))
	want := `{"dir":"./m-m-7","prefix":"shadow-http://h","a":51,"b":"x23","c":"warmup profiling "}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTemplatesKnowValuesAsTheFileNamesThem(t *testing.T) {
	f := read(t, "benchmark:\n  model: m\n  endpoint: {baseUrl: u}\n  n: 1\n")
	shaped := read(t, `{"benchmark": {"models": {"items": [{"name": "m"}]}, "endpoint": {"base_url": "u"}, "n": 2,
		"dir": "{{ model }} {{ benchmark.model }} {{ models.items[0].name }} `+
		`{{ endpoint.baseUrl }}{{ endpoint.base_url }} {{ n }}"}}`)
	root, err := document.Render(f, shaped.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(root.Get("benchmark").Get("dir")), `"m m m uu 2"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f = read(t, "benchmark: {model: '{{ n }}'}\n")
	if _, err := document.Render(f, shaped.Root); err == nil || !strings.Contains(err.Error(), "a template itself") {
		t.Errorf("a template of the file was used: %v", err)
	}
	if root.Get("benchmark").Get("model") != nil {
		t.Errorf("the tree got what the file says: %s", asJSON(root))
	}
}

func TestTemplatesOfRequestsAndUserFilesStay(t *testing.T) {
	const stay = "{{ stays }}"
	for _, text := range []string{
		"benchmark: {endpoint: {template: {body: '%s'}}}", "benchmark: {endpoint: {template: '%s'}}",
		"benchmark: {endpoint: {payload_template: '%s'}}", "endpoint: {payloadTemplate: '%s'}",
		"benchmark: {artifacts: {user_files: [{path: a, content: '%s'}]}}",
		"benchmark: {artifacts: {userFiles: [{path: '%s', content: {a: ['{{ x }}']}}]}}",
		"artifacts: {user_files: [{path: a, content: '%s'}]}", "artifacts: {userFiles: [{path: a, content: '%s'}]}",
	} {
		before := read(t, fmt.Sprintf(text, stay)).Root
		if after := rendered(t, fmt.Sprintf(text, stay)); asJSON(after) != asJSON(before) {
			t.Errorf("%s: got %s", text, asJSON(after))
		}
	}
	f := read(t, "benchmark: {endpoint: {template: {body: x, response_field: '{{ stays }}'}}}")
	if _, err := document.Render(f, f.Root); err == nil || !strings.Contains(err.Error(), "template.response_field") {
		t.Errorf("got %v", err)
	}
}

func TestValuesOfFlagsAreNotRendered(t *testing.T) {
	f := read(t, "a: 1\n")
	n := document.Of("{{ a }}")
	n.Origin = "--extra-inputs"
	f.Root.Set("b", n)
	root, err := document.Render(f, f.Root)
	if err != nil || asJSON(root.Get("b")) != `"{{ a }}"` {
		t.Errorf("got %v, %v", root, err)
	}
}

func TestFaultsOfTemplatesHideSecrets(t *testing.T) {
	f := read(t, "endpoint:\n  api_key: \"s3cret-{{ nosuch }}\"\n  url: \"http://me:s3cret@h/{{ nosuch }}\"\n")
	_, err := document.Render(f, f.Root)
	if err == nil || strings.Contains(err.Error(), "s3cret") ||
		strings.Count(err.Error(), "nosuch is not defined") != 2 {
		t.Errorf("got %v", err)
	}
}

func TestWhatTemplatesMakeIsBounded(t *testing.T) {
	f := read(t, "a: ["+strings.Repeat("\"{{ 'x' * 1000000 }}\", ", 50)+"]\n")
	_, err := document.Render(f, f.Root)
	if err == nil || strings.Count(err.Error(), "more than 8388608 bytes together") != 1 {
		t.Errorf("got %.300v", err)
	}
}
