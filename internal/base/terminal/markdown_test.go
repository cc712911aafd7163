package terminal_test

import (
	"testing"

	"aiperf/internal/base/terminal"
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
		if got := terminal.Markdown(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
