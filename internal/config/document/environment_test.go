package document_test

import (
	"strings"
	"testing"

	"aiperf/internal/config/document"
)

func lookup(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := set[name]
		return v, ok
	}
}

func TestTrapReferencesToTheEnvironment(t *testing.T) {
	set := lookup(map[string]string{"E": "", "N": "42", "F": "2.5", "T": "tRue", "S": "x y", "Z": "007", "L": "1e3",
		"I": "inf", "D": "${N}", "U": "http://u:p@h"})
	for _, c := range []struct{ text, want string }{
		{`"${UNSET:600.0}"`, `600.0`},
		{`${UNSET:600.0}`, `600.0`},
		{`"${UNSET:}"`, `""`},
		{`"${UNSET:http://h:1/v1}"`, `"http://h:1/v1"`},
		{`"/v${UNSET:1}"`, `"/v1"`},
		{`"${UNSET:true}"`, `true`},
		{`"${T}"`, `true`},
		{`"${N}"`, `42`},
		{`"${F}"`, `2.5`},
		{`"${Z}"`, `7`},
		{`"${L}"`, `1000.0`},
		{`"${I}"`, `"inf"`},
		{`"${S}"`, `"x y"`},
		{`"${E}"`, `""`},
		{`"${E:default}"`, `""`},
		{`"${N}${N}"`, `"4242"`},
		{`" ${N}"`, `" 42"`},
		{`"${N}/${UNSET:a:b}-$N $"`, `"42/a:b-$N $"`},
		{`"${D}"`, `"${N}"`},
		{`"$${N}"`, `"$42"`},
		{`["${N}", {"${N}": "${N}"}]`, `[42,{"${N}":42}]`},
		{`"{{ a * '${UNSET:10}' | int }}"`, `"{{ a * '10' | int }}"`},
	} {
		f := read(t, "a: "+c.text+"\n")
		if err := document.Environment(f, set); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := asJSON(f.Root.Get("a")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestTrapFaultsOfReferences(t *testing.T) {
	for text, want := range map[string]string{
		`"${X"`:           "f.yaml:2:6: a.b: a reference ${ is not closed: write ${NAME} or ${NAME:default};",
		`"x ${A:b"`:       "a reference ${ is not closed",
		`"$${"`:           "a reference ${ is not closed",
		`"${1X}"`:         "the reference ${1X} names no variable",
		`"${}"`:           "the reference ${} names no variable",
		`"${a.b:c} ${N}"`: "the reference ${a.b:c} names no variable",
		`"${X}"`: "f.yaml:2:6: a.b: the environment variable X is not set: set it, or give a default, ${X:default}\n" +
			"  2 |   b: \"${X}\"\n    |      ^",
	} {
		f, err := document.Read("f.yaml", []byte("a:\n  b: "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		err = document.Environment(f, lookup(map[string]string{"N": "1"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestAllMissingVariablesAreNamedAtOnce(t *testing.T) {
	f := read(t, "a: ${A}\nb: [\"${B} ${C}\"]\n")
	err := document.Environment(f, lookup(nil))
	for _, want := range []string{"1:4: a: the environment variable A ", "2:5: b[0]: the environment variable B ",
		" variable C "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestVariablesThatMayBeSecretsAreListed(t *testing.T) {
	f := read(t, "endpoint:\n  headers: {Authorization: \"Bearer ${T}\"}\n  urls: [\"${URL}\"]\n"+
		"  path: ${MY_API_KEY}\n"+
		"  timeout: ${UNSET:5}\n")
	set := lookup(map[string]string{"T": "0123", "URL": "u", "MY_API_KEY": "0042"})
	if err := document.Environment(f, set); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range f.Variables {
		s := v.Path + " " + v.Name + "=" + v.Value
		if v.Secret() {
			s += " secret"
		}
		got = append(got, s)
	}
	want := "endpoint.headers.Authorization T=0123 secret|endpoint.urls[0] URL=u|endpoint.path MY_API_KEY=0042 secret"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if n := f.Root.Get("endpoint").Get("path"); n.Written != "0042" {
		t.Errorf("a key of digits lost its zeros: %q", n.Written)
	}
}

func TestLongVariablesAreBounded(t *testing.T) {
	f := read(t, "a: ["+strings.Repeat("\"${L}\", ", 1000)+"]\n")
	err := document.Environment(f, lookup(map[string]string{"L": strings.Repeat("x", 100_000)}))
	if err == nil || strings.Count(err.Error(), "more than 8388608 bytes") != 1 {
		t.Errorf("got %.300v", err)
	}
}

// The values of variables are data: a key may hold anything.
func TestValuesOfVariablesAreNoTemplates(t *testing.T) {
	set := lookup(map[string]string{"KEY": "sk-{{ 7*7 }}xyz", "HALF": "sk-a{%b", "PEEK": "{{ secret }}", "N": "7"})
	for _, c := range []struct{ text, want string }{
		{`"${KEY}"`, `"sk-{{ 7*7 }}xyz"`},
		{`"Bearer ${KEY}"`, `"Bearer sk-{{ 7*7 }}xyz"`},
		{`"${HALF}"`, `"sk-a{%b"`},
		{`["${PEEK}", {k: "${PEEK}"}]`, `["{{ secret }}",{"k":"{{ secret }}"}]`},
		{`"{{ ${N} * 2 }}"`, `14`},
		{`"{{ secret }} ${N}"`, `"top 7"`},
		{`"{{ other }}"`, `"sk-{{ 7*7 }}xyz"`},
		{`"{{ secret }} ${KEY}"`, ""},
	} {
		f := read(t, "secret: top\nother: ${KEY}\na: "+c.text+"\n")
		err := document.Environment(f, set)
		if err == nil {
			var root *document.Node
			if root, err = document.Render(f, f.Root); err == nil {
				if got := asJSON(root.Get("a")); got != c.want {
					t.Errorf("%s: got %s, want %s", c.text, got, c.want)
				}
			}
		}
		if (err != nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), "the environment variable KEY contains {{ or {%, and values are no templates") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
