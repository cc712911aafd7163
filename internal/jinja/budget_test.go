package jinja

import (
	"fmt"
	"strings"
	"testing"
)

// TestHostileTemplatesEnd renders what would not end, or not fit, without the bounds.
func TestHostileTemplatesEnd(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"loops in loops":            {"{% for a in range(99999) %}{% for b in range(99999) %}{% set c = 1 %}{% endfor %}{% endfor %}", "does not end by itself: it takes more steps"},
		"a long range":              {"{% for a in range(10000000000) %}{% endfor %}", "more than 1000000 numbers"},
		"a macro that calls itself": {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "without end"},
		"two that call each other":  {"{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}", "without end"},
		"a text many times":         {"{{ 'ab' * 9999999999 }}", "longer than 64 MiB"},
		"a text many times, kept":   {"{% set a = 'ab' * 9999999999 %}", "longer than 64 MiB"},
		"a text that doubles":       {"{% set ns = namespace(s='a') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}", "longer than 64 MiB"},
		"one that doubles by +":     {"{% set ns = namespace(s='a') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "longer than 64 MiB"},
		"a long reply":              {"{% set s = 'a' * 1000000 %}{% for i in range(99) %}{{ s }}{% endfor %}", "longer than 64 MiB"},
		"brackets":                  {"{{ " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + " }}", "brackets within each other"},
		"a long template":           {strings.Repeat("x", maxSource+1), "are the limit"},
		"a file":                    {`{% include "/etc/passwd" %}`, "cannot read files"},
	} {
		tmpl, err := Compile(c.source, Options{Chat: true})
		if err == nil {
			tmpl.steps = 20_000
			_, err = tmpl.Render(variables())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

func TestABudgetSufficesForALongConversation(t *testing.T) {
	tmpl, err := Compile("{% macro say(m) %}{% if m %}<{{ m }}>{% endif %}{% endmacro %}{% for m in range(10000) %}{{ say(m + 1) }}{% endfor %}", Options{Chat: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Render(nil); err != nil || !strings.HasSuffix(got, "<9999><10000>") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestOperatorsAreThoseOfPython(t *testing.T) {
	for source, want := range map[string]string{
		"{{ 'ab' * 2 }}|{{ 3 * 4 }}|{{ 1.5 * 2 }}|{{ 'a' * 0 }}|{{ 'a' * -1 }}":                                           "abab|12|3.0||",
		"{% set a = 'x' ~ (1 + 2) %}{{ a }}|{{ 'a' + 'b' }}|{{ [1] + [2] }}":                                              "x3|ab|[1, 2]",
		"{{ range(3)|list }}{{ range(5, 1, -2)|list }}{{ range(2, 2)|list }}{{ range(0, 5, 2)|length }}":                  "[0, 1, 2][5, 3][]3",
		"{% for i in range(3) %}{{ i }}{% if loop.last %}.{% endif %}{% endfor %}":                                        "012.",
		"{{ turn.role }}|{{ turn.role is none }}|{{ turn.role or 'x' }}|{{ turn.role == none }}|{{ nothing is defined }}": "None|True|x|True|False",
		"{{ ('a' if turn.role else 'b') ~ [1 if n else 2][0] }}":                                                          "b1",
		"{{ d|tojson }}": `{"a": [1.0, true, null], "b": 1}`,
		"{{ '<é>'|tojson }}{{ xs|tojson(indent=1) }}":    "\"<é>\"[\n \"x\",\n \"y\"\n]",
		"a\n  {% if true %}\nb\n  {% endif %}\n{# c #}d": "a\nb\nd",
	} {
		tmpl, err := Compile(source, Options{Chat: true})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tmpl.Render(variables()); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", source, got, err, want)
		}
	}
}

func FuzzChat(f *testing.F) {
	for _, s := range []string{"{{ text|tojson }}", "{% for x in xs %}{{ x }}{% endfor %}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1 if n else 2) }}", "{%- if n -%} a {%- endif -%}", "{# x #}{{ xs[0] ~ none }}"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		if len(source) > 200 {
			return
		}
		if tmpl, err := Compile(source, Options{Chat: true}); err == nil {
			_, _ = tmpl.Render(variables())
		}
		_ = fmt.Sprint(trimmed(source), inline(source))
	})
}
