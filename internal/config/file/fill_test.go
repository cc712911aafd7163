package file_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
)

// read is the tree of a text, which must be a valid document.
func read(t *testing.T, text string) *document.Node {
	t.Helper()
	f, err := document.Read("f.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f.Root
}

// comments are the comments of a text.
func comments(text string) (list []string) {
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "# "); i >= 0 {
			list = append(list, line[i:])
		}
	}
	return list
}

// TestFill: every template takes a model and a server where it has its own, and nothing else changes.
func TestFill(t *testing.T) {
	const model, server = "org/My-Model_7B", "https://host.example:8443/base"
	for _, x := range file.Templates() {
		text := x.Fill(model, []string{server})
		got, want := read(t, text), read(t, x.Text)
		body, endpoint := want.Get("benchmark"), want.Get("benchmark").Get("endpoint")
		replace := func(n *document.Node, value, page string) {
			switch {
			case n.Kind == document.List:
				n.Items = []*document.Node{document.Of(page)}
			case strings.HasPrefix(n.Written, "${"):
				name, _, _ := strings.Cut(n.Written, ":")
				*n = *document.Of(name + ":" + value + "}")
			default:
				*n = *document.Of(value)
			}
		}
		replace(body.Get("model"), model, "")
		for _, key := range []string{"url", "urls"} {
			if n := endpoint.Get(key); n != nil {
				replace(n, server, server)
			}
		}
		if n := body.Get("server_metrics").Get("urls"); n != nil {
			replace(n, "", "https://host.example:8443/metrics")
		}
		if g, w := flat(got), flat(want); !slices.Equal(g, w) {
			t.Errorf("%s:\n%s\nwant\n%s", x.Name, strings.Join(g, "\n"), strings.Join(w, "\n"))
		}
		if !slices.Equal(comments(text), comments(x.Text)) {
			t.Errorf("%s lost a comment:\n%s", x.Name, text)
		}
		if x.Fill("", nil) != x.Text {
			t.Errorf("%s changes without anything to put into it", x.Name)
		}
	}
}

// flat is a tree as lines of paths and values.
func flat(n *document.Node) (lines []string) {
	var walk func(path string, n *document.Node)
	walk = func(path string, n *document.Node) {
		for _, m := range n.Members {
			walk(path+"."+m.Key, m.Value)
		}
		for _, item := range n.Items {
			walk(path+"[]", item)
		}
		if n.Kind < document.List {
			lines = append(lines, path+"="+n.Written)
		}
	}
	walk("", n)
	return lines
}

func TestSeveralServers(t *testing.T) {
	minimal, _ := file.FindTemplate("minimal")
	if got := minimal.Fill("", []string{"http://a:1", "http://b:2"}); !strings.Contains(got,
		"\n    urls: [http://a:1, http://b:2]\n") {
		t.Error(got)
	}
	several, _ := file.FindTemplate("multi_url_load_balancing")
	got := several.Fill("", []string{"http://a:1", "http://b:2/v1"})
	for _, want := range []string{
		"\n    urls:\n      - http://a:1\n      - http://b:2/v1\n    url_strategy: round_robin\n",
		"\n    urls:\n      - http://a:1/metrics\n      - http://b:2/metrics\n\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s in\n%s", want, got)
		}
	}
}

// TestNamesThatNeedQuotes: whatever a model is called, the file says it.
func TestNamesThatNeedQuotes(t *testing.T) {
	for _, name := range []string{"a", "mock-model", "true", "No", "null", "~", "7", "1e5", "0x1F", ".5", "a: b",
		"a #b",
		"a:", "- a", "[a]", "{a}", `a"b`, "a'b", `a\b`, "*a", "&a", "!a", "%a", "@a", "`a`", "a,b", " a ", "ä/ö", "日本",
		"a\tb", "a\nb", "\x7f", "\u2028", "\U0001f600", "a}b", "${NAME}", "?", "|", ">", "---", "..."} {
		for _, template := range []string{"minimal", "env_var_production"} {
			x, _ := file.FindTemplate(template)
			got := read(t, x.Fill(name, nil)).Get("benchmark").Get("model")
			if got.Kind != document.Text || got.Scalar != name && got.Scalar != "${BENCH_MODEL:"+name+"}" {
				t.Errorf("%s: %q became %s %q", template, name, got.Kind, got.Scalar)
			}
		}
	}
}

// FuzzFill: any name of a model is read back as it was given.
func FuzzFill(f *testing.F) {
	f.Add("org/model", "http://host:1")
	f.Add("a\x00b", "http://[::1]:8000/v1?x={y}")
	minimal, err := file.FindTemplate("minimal")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, model, server string) {
		if model == "" || server == "" || !utf8.ValidString(model) || !utf8.ValidString(server) {
			t.Skip("no flag gives such a value: it is a text, and not empty")
		}
		body := read(t, minimal.Fill(model, []string{server})).Get("benchmark")
		if got := body.Get("model").Scalar; got != model {
			t.Errorf("%q became %q", model, got)
		}
		if got := body.Get("endpoint").Get("url").Scalar; got != server {
			t.Errorf("%q became %q", server, got)
		}
	})
}
