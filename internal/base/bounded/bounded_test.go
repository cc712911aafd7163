package bounded_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"aiperf/internal/base/bounded"
)

func TestLinesAreBounded(t *testing.T) {
	for _, c := range []struct {
		text string
		line int // that is too long, 0 for none
	}{
		{"", 0}, {"12345678", 0}, {"12345678\n12345678\n", 0}, {"\n\n\n", 0},
		{"123456789", 1}, {"1\n\n123456789\n", 3}, {"12345678\n1\n1234567890123", 3},
	} {
		for name, in := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text)),
		} {
			text, err := io.ReadAll(bounded.NewLines(in, 8, " (HINT)"))
			var long *bounded.LineError
			switch {
			case c.line == 0 && (err != nil || string(text) != c.text):
				t.Errorf("%q %s: %q, %v", c.text, name, text, err)
			case c.line > 0 && (!errors.As(err, &long) || long.Line != c.line ||
				err.Error() != "the line is longer than 8 bytes (HINT)"):
				t.Errorf("%q %s: %v", c.text, name, err)
			}
		}
	}
}

// endless is a line without end.
type endless struct{ given int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.given += int64(len(p))
	return len(p), nil
}

func TestALineWithoutEndIsLeft(t *testing.T) {
	in := &endless{}
	_, err := bufio.NewReaderSize(bounded.NewLines(in, 1<<20, "").From(7), 1<<16).ReadBytes('\n')
	var long *bounded.LineError
	if !errors.As(err, &long) || long.Line != 7 || in.given > 2<<20 {
		t.Errorf("%v after %d bytes", err, in.given)
	}
}

func TestFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345678"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := bounded.ReadFileUpTo(path, 8); err != nil || string(text) != "12345678" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := bounded.ReadFileUpTo(path, 7); err == nil || err.Error() != path+" is larger than 7 bytes" {
		t.Errorf("got %v", err)
	}
	if _, err := bounded.ReadFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := bounded.ReadFile(os.DevNull); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("got %v", err)
	}
}
