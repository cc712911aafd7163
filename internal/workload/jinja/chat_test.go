package jinja_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"aiperf/internal/workload/jinja"
)

const conversation = `[{"role":"system","content":" Be brief. "},{"role":"user","content":"a <b> & 'c'"},
	{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"b":[1,true,null],"a":"x,y: z"}}}]},
	{"role":"user","content":"é"}]`

func TestRender(t *testing.T) {
	for name, c := range map[string]struct{ template, want string }{
		"roles and the start of the reply": {
			"{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m['content'] or '' }}{{ eos_token }}{% endfor " +
				"%}{% if add_generation_prompt %}<assistant>{% endif %}",
			"^<system> Be brief. $<user>a <b> & 'c'$<assistant>$<user>é$<assistant>"},
		"blocks take their line with them": {"{% for m in messages %}\n    {% if loop.first %}\n{{ m.content | " +
			"trim }}\n    {% endif %}\n{% endfor %}\nend\n", "Be brief.\nend"},
		"namespaces, slices, tests": {"{% set ns = namespace(n=0) %}{% for m in messages[1:] if m.content " +
			"is string %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}{{ messages[-1].content }}", "2é"},
		"a choice in brackets": {"{{ 'x' + ('sys' if messages[0]['role'] == 'system' else '') + " +
			"(messages|length if true) }}{% set a = [1 if false else 2, 'if else'] %}{{ a[0] }}{{ a[1] }}",
			"xsys42if else"},
		"a choice in a call": {"{% macro say(a, b='-') %}{{ a }}{{ b }}{% endmacro %}{{ say('y' if " +
			"false else 'n', b='1' if true else '2') }}", "n1"},
		"equal and not equal of comparisons": {"{% for m in messages %}{{ (m.role == 'user') != (loop.index0 % 2 == " +
			"0) }} {% endfor %}", "True True True True "},
		"tojson": {"{{ messages[2].tool_calls[0].function.arguments | tojson }}",
			`{"b": [1, true, null], "a": "x,y: z"}`},
		"arguments in their order": {"{% for k, v in messages[2].tool_calls[0].function.arguments|items " +
			"%}{{ k }}={{ v|length }};{% endfor %}", "b=3;a=6;"},
		"tojson with indent": {"{{ messages[2].tool_calls[0].function.arguments.b | " +
			"tojson(indent=2) }}", "[\n  1,\n  true,\n  null\n]"},
		"strings": {"{{ 'a.b'.split('.')[-1].upper() }}{{ ' x '.strip() }}{{ 'think' in " +
			"'rethink' }}{{ 'ab'.startswith('a') }}", "BxTrueTrue"},
		"generation marks": {"{% for m in messages %}{% generation %}{{ m.role[0] }}{% " +
			"endgeneration %}{% endfor %}", "suau"},
		"blanks before a block inside a line": {"{{ 'a' }} {% if true %} b {% endif %} \t{# c #}\nd", "a  b  \td"},
		"comments":                            {"{# {{ (1 if 2 else 3 #}x", "x"},
		"break": {"{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif " +
			"%}{{ loop.index }}{% endfor %}", "12"},
	} {
		template, err := jinja.ParseChat(c.template, "^", "$")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := template.Render([]byte(conversation)); err != nil || got != c.want {
			t.Errorf("%s: got %q, want %q, %v", name, got, c.want, err)
		}
	}
}

func TestTheDateCanBeAsked(t *testing.T) {
	template, err := jinja.ParseChat("{{ strftime_now('%Y-%m-%d') }}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := template.Render([]byte("[]")); err != nil || len(got) != 10 || got[4] != '-' {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTextPartsAreJoinedForTemplatesThatKnowNone(t *testing.T) {
	parts := []byte(`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}]`)
	for source, want := range map[string]string{
		"{{ messages[0].content | trim }}": "a\nb",
		"{% for p in messages[0].content %}{% if p['type'] == 'text' %}[{{ p.text }}]{% endif %}{% endfor %}": "[a][b]",
	} {
		template, err := jinja.ParseChat(source, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Render(parts); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", source, got, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	template, err := jinja.ParseChat("{{ raise_exception('roles must alternate') }}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := template.Render([]byte("[]")); err == nil || !strings.Contains(err.Error(), "roles must alternate") {
		t.Errorf("got %v", err)
	}
	if _, err := template.Render([]byte("{}")); err == nil {
		t.Error("messages that are no list were taken")
	}
	for _, source := range []string{"{% if %}", "{{ 'a }}", "{% for x in y %}", "{% include '/etc/passwd' %}"} {
		if template, err := jinja.ParseChat(source, "", ""); err == nil {
			if text, err := template.Render([]byte("[]")); err == nil {
				t.Errorf("%s: no error, but %q", source, text)
			}
		}
	}
}

// TestOracle checks the texts that interop/tokenizers/engines.py took from the Jinja of the published templates.
func TestOracle(t *testing.T) {
	path := os.Getenv("AIPERF_CHAT_TEMPLATES")
	if path == "" {
		t.Skip("AIPERF_CHAT_TEMPLATES names no file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name, Template, BOS, EOS string
		Messages                 json.RawMessage
		Want                     *string
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		template, err := jinja.ParseChat(c.Template, c.BOS, c.EOS)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		got, err := template.Render(c.Messages)
		if c.Want == nil && err == nil {
			t.Errorf("%s, conversation %d: the template refuses it, but got %q", c.Name, i, got)
		} else if c.Want != nil && (err != nil || got != *c.Want) {
			t.Errorf("%s, conversation %d: %v\n got %q\nwant %q", c.Name, i, err, got, *c.Want)
		}
	}
	t.Logf("%d conversations", len(list))
}
