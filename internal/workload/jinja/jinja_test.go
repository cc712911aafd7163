package jinja_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/workload/jinja"
)

// variables returns those of every vector; testdata/vectors.jsonl was made with the same ones.
func variables() map[string]any {
	return map[string]any{
		"text": "a \"q\" <b> & 'c' é\n", "stream": true, "max_tokens": jinja.None,
		"xs": []string{"x", "y"}, "n": 3, "f": 1.0,
		"none_list": []string{},
		"d":         map[string]any{"b": 1, "a": []any{1.0, true, jinja.None}}, "emoji": "😀\x7f",
		"turn": map[string]any{"texts": []any{map[string]any{"name": "q", "contents": []string{"c0", "c1"}}},
			"max_tokens": 7, "role": jinja.None},
	}
}

// TestVectors compares with what Jinja2 3.1 makes of the same templates. An output of null is an error.
func TestVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		var v struct {
			Template string
			Output   *string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		got, err := render(v.Template)
		switch {
		case v.Output == nil && err == nil:
			t.Errorf("%s: got %q, Jinja2 refuses it", v.Template, got)
		case v.Output != nil && (err != nil || got != *v.Output):
			t.Errorf("%s: got %q, %v; Jinja2 makes %q", v.Template, got, err, *v.Output)
		}
	}
	if n < 60 {
		t.Errorf("only %d vectors", n)
	}
}

func render(source string) (string, error) {
	tmpl, err := jinja.Compile(source, jinja.Options{Escape: true})
	if err != nil {
		return "", err
	}
	return tmpl.Render(variables())
}

func TestErrorsNameLineAndVariable(t *testing.T) {
	for source, want := range map[string][]string{
		"{\n{{ nosuch.attr }}\n}":              {"line 2", "nosuch"},
		"{{ turn.nosuch.x }}":                  {"line 1", "turn.nosuch"},
		"\n\n{{ text|nofilter }}":              {"line 3", "text", "nofilter"},
		"{{ nosuch|tojson }}":                  {"line 1", "nosuch", "undefined"},
		"{{ text":                              {"line 1"},
		"{% if %}":                             {"line 1"},
		`{% include "/etc/passwd" %}`:          {"/etc/passwd", "cannot read files"},
		"{{ n % 0 }}":                          {"divide by zero"},
		"{% for x in xs %}{{ x }}":             {"line 1"},
		"{{ self_reference.deep[0].missing }}": {"self_reference"},
	} {
		_, err := render(source)
		if err == nil {
			t.Errorf("%q: no error", source)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %q does not name %q", source, err, w)
			}
		}
		if strings.Contains(err.Error(), "filtered_expression") || strings.Contains(err.Error(), "print") {
			t.Errorf("%q: the error speaks of the engine: %s", source, err)
		}
	}
}

func TestPlainTextIsNotEscaped(t *testing.T) {
	tmpl, err := jinja.Compile("{{ text }}", jinja.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Render(variables()); err != nil || got != "a \"q\" <b> & 'c' é\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOneTemplateServesManyGoroutines(t *testing.T) {
	tmpl, err := jinja.Compile(`{% set a = n + 1 %}{% for x in xs %}{{ loop.index }}{{ x }}{{ a }}{% endfor %}`,
		jinja.Options{Escape: true})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if got, err := tmpl.Render(variables()); err != nil || got != "1x42y4" {
					t.Errorf("got %q, %v", got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"{{ text|tojson }}", "{% for x in xs %}{{ x }}{% endfor %}", "{% if n %}a{% endif %}",
		"{{ 1 if", "{#", "{{ xs[0] ~ none }}"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		// A template may be wrong in any way and must not bring the program down.
		if strings.Contains(source, "range") || strings.Contains(source, "*") || len(source) > 200 {
			return // it may ask for more memory than there is
		}
		_, _ = render(source)
	})
}
