package jinja_test

import (
	"strings"
	"testing"

	"aiperf/internal/workload/jinja"
)

func strictVariables() map[string]any {
	return map[string]any{
		"a": 512, "f": 2.5, "s": "12", "yes": true, "n": jinja.None, "list": []any{1, 2, "q"},
		"map": jinja.Dict([]string{"x", "y"}, []any{1, map[string]any{"z": 3}}),
		"phases": jinja.Named([]any{jinja.Dict([]string{"name", "rate"}, []any{"warmup", 5}),
			jinja.Dict([]string{"name", "rate"}, []any{"main", 7})}),
	}
}

func TestStrictTemplatesComputeAsPython(t *testing.T) {
	for source, want := range map[string]string{
		"{{ a // 10 }}": "51", "{{ a / 2 }}": "256.0", "{{ 16 * '10' | int }}": "160", "{{ a % 10 }}": "2",
		"{{ -7 // 2 }}": "-4", "{{ 7 // 2.0 }}": "3.0", "{{ 7 % -3 }}": "-2", "{{ -7 % 3.5 }}": "0.0", "{{ -7 % 2 }}": "1",
		"{{ 2 ** 10 }}": "1024", "{{ 2 ** -1 }}": "0.5", "{{ 3 ** 39 }}": "4052555153018976267", "{{ 0 ** 0 }}": "1",
		"{{ (-1) ** 5 }}": "-1", "{{ 3 - 1 - 1 }}": "1", "{{ a + 1 * 2 }}": "514", "{{ (a + 1) * 2 }}": "1026",
		"{{ yes + 1 }}": "2", "{{ 'a' + 'b' }}": "ab", "{{ 'ab' * 2 }}": "abab", "{{ 2 * 'ab' }}": "abab",
		"{{ [1] + [2] }}": "[1, 2]", "{{ 10 / 3 }}": "3.3333333333333335", "{{ 0.1 + 0.2 }}": "0.30000000000000004",
		"{{ 2.5 | round }}": "2.0", "{{ 3.5 | round | int }}": "4", "{{ 2.675 | round(2) }}": "2.67",
		"{{ 2.1 | round(method='ceil') }}": "3.0", "{{ 1234 | round(-2) }}": "1200.0",
		"{{ -9223372036854775807 // -1 }}": "9223372036854775807",
		"{{ phases.main.rate }} {{ phases[0].rate }} {{ phases['main'].rate }} {{ phases | length }}": "7 5 7 2",
		"{% for p in phases %}{{ p.name }} {% endfor %}":                                              "warmup main ",
		"{{ map.y.z + map['x'] }}": "4", "{{ nosuch | default(3) + 1 }}": "4", "{{ map.nosuch | d('x') }}": "x",
		"{{ nosuch is defined }} {{ map.q is undefined }} {{ a is defined }}": "False True True",
		"{% set b = a + 1 %}{{ b }}":                                          "513", "{{ 1 in list }} {{ 5 in list }}": "True False", "{{ n is none }}": "True",
		"{{ 'x' if a > 600 else 'y' }}": "y", "{{ [2, 1] | max }}": "2",
	} {
		tmpl, err := jinja.Compile(source, jinja.Options{Strict: true})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tmpl.Render(strictVariables()); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", source, got, err, want)
		}
	}
}

func TestStrictTemplatesEndAtWhatIsUndefined(t *testing.T) {
	for source, want := range map[string]string{
		"{{ nosuch }}":                      "nosuch is not defined",
		"{{ nosuch + 1 }}":                  "nosuch is not defined",
		"{{ 1 + nosuch }}":                  "nosuch is not defined",
		"{{ nosuch.x.y }}":                  "nosuch is not defined",
		"{{ map.nosuch }}":                  "map.nosuch is not defined",
		"{{ map.nosuch.z }}":                "map.nosuch is not defined",
		"{{ phases.nosuch.rate }}":          "phases.nosuch is not defined",
		"{{ list[7] }}":                     "list[7] is not defined",
		"{{ nosuch | int }}":                "nosuch is not defined",
		"{{ [1, nosuch] | max }}":           "nosuch is not defined",
		"{{ nosuch in list }}":              "nosuch is not defined",
		"{{ nosuch == 1 }}":                 "nosuch is not defined",
		"{{ not nosuch }}":                  "nosuch is not defined",
		"{% if nosuch %}x{% endif %}":       "nosuch is not defined",
		"{% for x in nosuch %}{% endfor %}": "nosuch is not defined",
		"{{ a + s }}":                       "number + text cannot be computed",
		"{{ n * 2 }}":                       "none * number cannot be computed",
		"{{ a // 0 }}":                      "division by zero",
		"{{ a % 0.0 }}":                     "division by zero",
		"{{ 0 ** -1 }}":                     "division by zero",
		"{{ 3 ** 40 }}":                     "the result is too large",
		"{{ 9223372036854775807 + 1 }}":     "the result is too large",
		"{{ 10.0 ** 400 }}":                 "the result is too large",
		"{{ 's' | round }}":                 "round takes a number",
	} {
		tmpl, err := jinja.Compile(source, jinja.Options{Strict: true})
		if err == nil {
			_, err = tmpl.Render(strictVariables())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "valuate") || strings.Contains(err.Error(), "filter ' ")) {
			t.Errorf("%s: the error speaks of the engine: %v", source, err)
		}
	}
}

func TestNamesAreThoseOfTheTemplate(t *testing.T) {
	tmpl, err := jinja.Compile("{{ a + b.c | default(d) }}{% for x in e['f'] %}{{ x }}{% endfor %}"+
		"{% if 'g' == h %}{% endif %}",
		jinja.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, name := range tmpl.Names() {
		got[name] = true
	}
	for _, name := range []string{"a", "b", "b.c", "d", "e", "e.f", "h"} {
		if !got[name] {
			t.Errorf("%v lacks %s", tmpl.Names(), name)
		}
	}
	if got["g"] || got["f"] || got["c"] {
		t.Errorf("%v has names of other things", tmpl.Names())
	}
}
