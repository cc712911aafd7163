package jinja_test

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/workload/jinja"
)

// TestHostileTemplatesEnd renders what would not end, or not fit, without the bounds.
func TestHostileTemplatesEnd(t *testing.T) {
	if jinja.DefaultSteps != 500_000 {
		t.Errorf("without a bound of its own a template may take %d steps", jinja.DefaultSteps)
	}
	for name, c := range map[string]struct {
		source, want string
		chatOnly     bool
	}{
		"loops in loops": {"{% for a in range(99999) %}{% for b in range(99999) %}{% set c = 1 %}{% " +
			"endfor %}{% endfor %}", "does not end by itself: it takes more than 20000 steps", false},
		"a long range": {"{% for a in range(10000000000) %}{% endfor %}", "more than 1000000 numbers",
			false},
		"a macro that calls itself": {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "without end", false},
		"two that call each other": {"{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro " +
			"%}{{ f() }}", "without end", false},
		"a text many times":       {"{{ 'ab' * 9999999999 }}", "longer than 64 MiB", false},
		"a text many times, kept": {"{% set a = 'ab' * 9999999999 %}", "longer than 64 MiB", false},
		"a text that doubles": {"{% set ns = namespace(s='a') %}{% for i in range(99) %}{% set ns.s = ns.s ~ " +
			"ns.s %}{% endfor %}", "longer than 64 MiB", false},
		"one that doubles by +": {"{% set ns = namespace(s='a') %}{% for i in range(99) %}{% set ns.s = ns.s + " +
			"ns.s %}{% endfor %}", "longer than 64 MiB", false},
		"a wide filter": {"{{ 'a'|center(99999999) }}", "longer than 64 MiB", false},
		"a wide method": {"{{ 'a'.ljust(99999999) }}", "longer than 64 MiB", false},
		"many zeros":    {"{{ 'a'.zfill(9999999999) }}", "longer than 64 MiB", false},
		"a replacement": {"{{ ('a' * 99999)|replace('a', 'b' * 99999) }}", "longer than 64 MiB", false},
		"a replacing method": {"{% set s = 'a' * 99999 %}{{ s.replace('a', 'b' * 99999) }}",
			"longer than 64 MiB", false},
		"one between all letters": {"{% set s = 'a' * 99999 %}{{ s.replace('', 'b' * 99999) }}", "longer than 64 MiB",
			false},
		"a wide format": {"{{ '{:>9999999999}'.format('a') }}", "longer than 64 MiB", false},
		"a format of long texts": {"{% set s = '{0}' * 99999 %}{{ s.format('a' * 99999) }}", "longer than 64 MiB",
			false},
		"a joint of long texts": {"{{ range(99999)|join('a' * 99999) }}", "longer than 64 MiB", false},
		"a joining method": {"{% set s = 'a' * 99999 %}{{ s.join(range(99999)|map('string')|list) }}",
			"longer than 64 MiB", false},
		"an indentation": {"{{ ('\n' * 99999)|indent(99999, true, true) }}", "longer than 64 MiB", false},
		"a batch":        {"{{ [1]|batch(9999999999, fill_with=2) }}", "longer than 64 MiB", false},
		"a list of long texts": {"{% set ns = namespace(l=[]) %}{% set s = 'a' * 9999999 %}{% for i in " +
			"range(99) %}{% set ns.l = ns.l + [s] %}{% endfor %}{{ ns.l }}", "longer than 64 MiB", false},
		"one put to a text": {"{% set ns = namespace(l=[]) %}{% set s = 'a' * 9999999 %}{% for i in " +
			"range(99) %}{% set ns.l = ns.l + [s] %}{% endfor %}{% set x = 'a' ~ ns.l %}", "longer than 64 MiB", false},
		"one as JSON": {"{% set ns = namespace(l=[]) %}{% set s = 'a' * 9999999 %}{% for i in " +
			"range(99) %}{% set ns.l = ns.l + [s] %}{% endfor %}{% set x = ns.l|tojson %}", "longer than 64 MiB",
			false},
		"random text": {"{{ lipsum() }}", "no random text", true},
		"a long reply": {"{% set s = 'a' * 1000000 %}{% for i in range(99) %}{{ s }}{% endfor %}",
			"longer than 64 MiB", false},
		"brackets": {"{{ " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + " }}",
			"nested brackets", false},
		"a long template": {strings.Repeat("x", 64<<20+1), "bytes; the limit is 67108864", false},
		"long tags":       {strings.Repeat("{% set a = [1, 2, 3] %}", 256<<10/20), "bytes; the limit is 262144", false},
		"a long expression": {"{{ a" + strings.Repeat(".a", 1000) + " }}", "more than 1000 names, values and operators",
			false},
		"a default that calls":      {"{% macro f(a=f()) %}x{% endmacro %}{{ f() }}", "without end", false},
		"a block that calls itself": {"{% macro f() %}{% filter upper %}{{ f() }}{% endfilter %}{% endmacro %}{{ f() }}", "without end", false},
		"a caller without end": {"{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
			"without end", false},
		"a loop in itself":   {"{% for i in xs recursive %}{{ loop(xs) }}{% endfor %}", "without end", false},
		"itself":             {`{% include "/template" %}`, "cannot read files", false},
		"itself as its base": {`{% extends "/template" %}`, "cannot read files", false},
		"a file":             {`{% include "/etc/passwd" %}`, "cannot read files", false},
	} {
		for _, o := range []jinja.Options{{Chat: true, Steps: 20_000}, {Escape: true, Steps: 20_000}} {
			if c.chatOnly && !o.Chat {
				continue
			}
			tmpl, err := jinja.Compile(c.source, o)
			if err == nil {
				_, err = tmpl.Render(variables())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %+v: got %v, want %q", name, o, err, c.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%s, %+v: the error has %d bytes", name, o, len(err.Error()))
			}
		}
	}
}

func TestRandomTextIsBounded(t *testing.T) {
	if text, err := render("{{ lipsum(n=2, html=false) }}"); err != nil || len(text) < 100 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, source := range []string{"{{ lipsum(99999999) }}", "{{ lipsum(n=99999999) }}",
		"{{ lipsum(max=99999999) }}"} {
		if _, err := render(source); err == nil || !strings.Contains(err.Error(), "more than 1000 paragraphs") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestABudgetSufficesForALongConversation(t *testing.T) {
	tmpl, err := jinja.Compile("{% macro say(m) %}{% if m %}<{{ m }}>{% endif %}{% endmacro %}"+
		"{% for m in range(10000) %}{{ say(m + 1) }}{% endfor %}", jinja.Options{Chat: true})
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
		"{{ '<é>'|tojson }}{{ xs|tojson(indent=1) }}": "\"<é>\"[\n \"x\",\n \"y\"\n]",
		"{{ 'aba'.replace('a', 'c') }}|{{ 'aba'.replace('a', 'c', 1) }}|{{ 'ab'|replace('b', '') }}|{{ 'ab'.replace('', '-') }}":         "cbc|cba|a|-a-b-",
		"{{ 'é'.ljust(3) }}|{{ 'é'.rjust(3, '.') }}|{{ 'ab'.center(5) }}|{{ 'abc'.center(6) }}|{{ 'ab'|center(5) }}|{{ '-7'.zfill(4) }}": "é  |..é|  ab | abc  |  ab |-007",
		"{% for k, v in {'b': 1, 'a': none}.items() %}{{ k }}={{ v }};{% endfor %}":                                                      "b=1;a=None;",
		"{% for k, v in {'b': 1, 'a': none}|items %}{{ k }}={{ v }};{% endfor %}":                                                        "b=1;a=None;",
		"{% set x = {'b': 1, 'a': 2} %}{{ x.keys()|list }}{{ x.values()|list }}{{ x|list }}{{ x|tojson }}":                               "['b', 'a'][1, 2]['b', 'a']{\"b\": 1, \"a\": 2}",
		"{{ d.get('b') }}|{{ d.get('z') is none }}|{{ d.get('z', 5) }}|{{ d|length }}|{{ 'a' in d }}":                                    "1|True|5|2|True",
		"a\n  {% if true %}\nb\n  {% endif %}\n{# c #}d":                                                                                 "a\nb\nd",
	} {
		tmpl, err := jinja.Compile(source, jinja.Options{Chat: true})
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
	for _, s := range []string{"{{ text|tojson }}", "{% for x in xs %}{{ x }}{% endfor %}",
		"{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1 if n else 2) }}", "{%- if n -%} a {%- endif -%}",
		"{# x #}{{ xs[0] ~ none }}"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		if len(source) > 200 {
			return
		}
		if tmpl, err := jinja.Compile(source, jinja.Options{Chat: true}); err == nil {
			_, _ = tmpl.Render(variables())
		}
		_ = fmt.Sprint(jinja.Options{Chat: true}.Rewrite(source), jinja.Options{}.Rewrite(source))
	})
}
