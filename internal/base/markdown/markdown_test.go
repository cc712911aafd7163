package markdown

import (
	"strings"
	"testing"
)

func TestTextStaysText(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, 12 %":      "plain text, 12 %",
		"a|b":                   `a\|b`,
		"`x`":                   "\\`x\\`",
		"<img src=x onerror=y>": "&lt;img src=x onerror=y&gt;",
		"[a](http://h)":         `\[a\](http:<!-- -->//h)`,
		"![a](b)":               `\!\[a\](b)`,
		"line\nbreak":           "line break",
		"# heading":             `\# heading`,
		"- item":                `\- item`,
		"1. item":               `1\. item`,
		"> quote":               "\\> quote",
		"request_latency _x_":   `request_latency \_x\_`,
		"@someone":              "@<!-- -->someone",
		"&copy;":                "&amp;copy;",
		"\x1b[31mred\x07":       `\\x1b\[31mred\\x07`,
		"turned \u202e round":   `turned \\u202e round`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestCodeEndsWhereItShould(t *testing.T) {
	for in, want := range map[string]string{
		"model":     "`model`",
		"a`b":       "``a`b``",
		"`":         "`` ` ``",
		"``a":       "``` ``a ```",
		"two\nline": "`two line`",
		"a|b":       "`a|b`",
		"":          "",
	} {
		if got := Code(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := CellCode("a|b"); got != "`a\\|b`" {
		t.Errorf("in a table: %q", got)
	}
	if got := Block("sh", "a\n```\nb\n"); got != "````sh\na\n```\nb\n````\n" {
		t.Errorf("a block: %q", got)
	}
}

// Whatever a text holds, a code span of it has its own fence only at its ends.
func FuzzCode(f *testing.F) {
	f.Add("a`b```c")
	f.Fuzz(func(t *testing.T, s string) {
		code := Code(s)
		if code == "" {
			return
		}
		fence := code[:len(code)-len(strings.TrimLeft(code, "`"))]
		inner := strings.TrimSuffix(strings.TrimPrefix(code, fence), fence)
		if strings.Contains(code, "\n") || longestRun(inner) >= len(fence) {
			t.Errorf("%q becomes %q", s, code)
		}
	})
}
