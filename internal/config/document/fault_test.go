package document_test

import (
	"strings"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

func TestAFaultShowsItsLine(t *testing.T) {
	f := read(t, "a: 1\nendpoint:\n  urll: http://h # the server\n")
	var list fault.List
	urll := f.Root.Get("endpoint").Member("urll")
	f.Fault(&list, urll.Pos, document.Path("endpoint", "urll"), "unknown key, did you mean %s?", "url")
	want := "bench.yaml:3:3: endpoint.urll: unknown key, did you mean url?\n" +
		"  3 |   urll: http://h # the server\n    |   ^"
	if got := list.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAValueMadeByAFlagNamesTheFlag(t *testing.T) {
	f := read(t, "a: 1\n")
	n := document.Of(int64(5))
	n.Origin = "--concurrency 5"
	var list fault.List
	f.FaultOf(&list, n, document.Index(document.Path("", "phases"), 0), "too large")
	f.FaultOf(&list, f.Root.Get("a"), "a", "too small")
	want := "--concurrency 5: phases[0]: too large\nbench.yaml:1:4: a: too small\n  1 | a: 1\n    |    ^"
	if got := list.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExcerptsHideSecrets(t *testing.T) {
	for _, c := range []struct {
		name, text string
		pos        document.Pos
		want       string
	}{
		{"value", "api_key: s3cret-value\n", document.Pos{Line: 1, Column: 10},
			"api_key: <redacted>\n    |          ^"},
		{"key before it", "x: {a: 1, api_key: s3cret-value}\n", document.Pos{Line: 1, Column: 8},
			"x: {a: 1, api_key: <redacted>\n    |        ^"},
		{"behind it", "x: {api_key: s3cret-value, a: 1}\n", document.Pos{Line: 1, Column: 31},
			"x: {api_key: <redacted>"},
		{"JSON", "{\"Authorization\": \"Bearer s3cret-value\"}\n", document.Pos{Line: 1, Column: 2},
			"{\"Authorization\": <redacted>"},
		{"next line", "api_key:\n  s3cret-value\n", document.Pos{Line: 2, Column: 3}, "  <redacted>"},
		{"list", "api_keys:\n- a\n- s3cret-value\n", document.Pos{Line: 3, Column: 3}, "<redacted>"},
		{"lines of a text", "a:\n  token: |\n    x\n\n    s3cret-value\n", document.Pos{Line: 5, Column: 5},
			"    <redacted>"},
		{"user of a URL", "url: http://me:s3cret-value@host:1/v1 # x\n", document.Pos{Line: 1, Column: 6},
			"url: http://<redacted>@host:1/v1 # x\n    |      ^"},
		{"behind a URL", "{url: 'http://me:s3cret-value@host/', n: 1}\n", document.Pos{Line: 1, Column: 42},
			"{url: 'http://<redacted>@host/', n: 1}\n    |" + strings.Repeat(" ", 36)},
		{"header in a list", "h: ['Authorization: Bearer s3cret-value']\n", document.Pos{Line: 1, Column: 5},
			"<redacted>"},
		{"other lines stay", "api_key: x\nb:\n  c: shown\n", document.Pos{Line: 3, Column: 6}, "  c: shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list fault.List
			read(t, c.text).Fault(&list, c.pos, "", "wrong")
			got := list.Error()
			if strings.Contains(got, "s3cret") || !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestMessagesAboutTheTextHideSecrets(t *testing.T) {
	for _, text := range []string{
		"api_key: \"x\" s3cret\n", "api_key:\ns3cret\n", "password: *s3cret\n", "password: !s3cret x\n",
		"token: &a [*s3cret]\n",
		"auth:\n  x\n   : s3cret\n", "token: a: s3cret\n", "a:\n  token:\n  s3cret\n",
	} {
		_, err := document.Read("f.yaml", []byte(text))
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestExcerptsOfLongLinesAreCut(t *testing.T) {
	f := read(t, "a: ["+strings.Repeat("1, ", 500)+"x"+strings.Repeat(", 2", 500)+"]\n")
	var list fault.List
	x := f.Root.Get("a").Items[500]
	f.Fault(&list, x.Pos, "", "wrong")
	lines := strings.Split(list.Error(), "\n")
	if len([]rune(lines[1])) != 82 || []rune(lines[1])[strings.IndexByte(lines[2], '^')] != 'x' {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

func TestExcerptsAreSafeToPrint(t *testing.T) {
	f := read(t, "a: \"\u009b31m\tx\" \n")
	var list fault.List
	f.Fault(&list, document.Pos{Line: 1, Column: 1}, "", "wrong")
	if got := list.Error(); strings.ContainsAny(got, "\u009b\t") {
		t.Errorf("got %q", got)
	}
}
