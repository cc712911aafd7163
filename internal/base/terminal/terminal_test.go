package terminal_test

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"aiperf/internal/base/terminal"
)

var texts = []struct{ name, in, want string }{
	{"plain text", "a b\tc\nd é 漢 👩‍💻", "a b\tc\nd é 漢 👩‍💻"},
	{"a colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
	{"a window title", "\x1b]0;owned\x07", `\x1b]0;owned\x07`},
	{"C1 controls", "\u009b31m \u0085 \u007f", `\u009b31m \u0085 \u007f`},
	{"C1 bytes that are not UTF-8", "\x9b31m", "\uFFFD31m"},
	{"backspaces and NUL", "a\b\x00b", `a\x08\x00b`},
	{"direction of writing", "\u202egpj.exe \u2066x\u2069 \u200f", `\u202egpj.exe \u2066x\u2069 \u200f`},
	{"separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
	{"carriage returns", "one\r\ntwo\rthree", "one\ntwo\nthree"},
}

func TestTextShowsControlCharactersAsEscapes(t *testing.T) {
	for _, c := range texts {
		got := terminal.Text(c.in)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if again := terminal.Text(got); again != got {
			t.Errorf("%s: a second pass gave %q", c.name, again)
		}
	}
}

func TestWriterJoinsWhatIsSplitBetweenWrites(t *testing.T) {
	for _, c := range texts {
		var out strings.Builder
		w := terminal.NewWriter(&out)
		buf := make([]byte, 1)
		for r := iotest.OneByteReader(strings.NewReader(c.in)); ; {
			n, err := r.Read(buf)
			if n > 0 {
				if _, err := w.Write(buf[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				break
			}
		}
		w.Flush()
		if out.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, out.String(), c.want)
		}
	}
}

func TestWriterKeepsHalfACharacterUntilFlush(t *testing.T) {
	var out strings.Builder
	w := terminal.NewWriter(&out)
	w.Write([]byte("a\xe6\xbc"))
	if out.String() != "a" {
		t.Errorf("%q", out.String())
	}
	if w.Flush(); out.String() != "a\uFFFD" {
		t.Errorf("%q", out.String())
	}
}

// controls reports whether a terminal may act on r instead of showing it.
func controls(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Bidi_Control, r)
}

func FuzzText(f *testing.F) {
	for _, c := range texts {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range terminal.Text(s) {
			if controls(r) || terminal.Text(string(r)) != string(r) {
				t.Fatalf("%U is left of %q", r, s)
			}
		}
	})
}

// Lines are broken by the columns that they take, not by their characters.
func TestWrapCountsColumns(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"模型 模型 模型", 9, []string{"模型 模型", "模型"}},
		{"e\u0301e\u0301 e\u0301e\u0301", 5, []string{"e\u0301e\u0301 e\u0301e\u0301"}},
		{"averylongword a", 5, []string{"averylongword", "a"}},
	} {
		if got := terminal.Wrap(c.line, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}
