package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func textfileWritten(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// indexed returns the index of a file, and what stands on its lines.
func indexed(t *testing.T, path string, size int) (*Index, []string) {
	t.Helper()
	var all []string
	x, err := Parse(context.Background(), Source{Path: path, ChunkSize: size},
		func(c *Chunk) (lines []string, err error) {
			for number, line := range c.Lines() {
				lines = append(lines, fmt.Sprintf("%d %s", number, line))
			}
			return lines, nil
		},
		func(lines []string) error {
			all = append(all, lines...)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, all
}

// In order, in chunks of any size and one by one the lines of a file and their numbers are the same.
func TestLinesAreTheSameHoweverTheyAreRead(t *testing.T) {
	var text strings.Builder
	text.WriteString(byteOrderMark + "\n\n")
	for i := range 500 {
		fmt.Fprintf(&text, " line %d %s\r\n%s", i, strings.Repeat("x", i%70), strings.Repeat("\n", i%3))
	}
	text.WriteString("the last one")
	path := textfileWritten(t, text.String())
	var want []string
	err := Each(context.Background(), path, 0, func(number int, line []byte) error {
		want = append(want, fmt.Sprintf("%d %s", number, line))
		return nil
	})
	if err != nil || len(want) != 501 || !strings.HasPrefix(want[0], "3 line 0") {
		t.Fatalf("%d lines: %v", len(want), err)
	}
	for _, size := range []int{16, 100, 1 << 20} {
		x, all := indexed(t, path, size)
		if !slices.Equal(all, want) || x.Len() != len(want) {
			t.Errorf("chunks of %d bytes: %d lines, want %d", size, len(all), len(want))
		}
		for i := range want {
			err := x.Read(i, func(number int, line []byte) error {
				if got := fmt.Sprintf("%d %s", number, line); got != want[i] {
					t.Errorf("chunks of %d bytes: line %d is %q, want %q", size, i, got, want[i])
				}
				return nil
			})
			if err != nil {
				t.Errorf("chunks of %d bytes: line %d: %v", size, i, err)
			}
		}
	}
}

func TestALineThatIsGoneIsAnError(t *testing.T) {
	path := textfileWritten(t, "a\nb\nc\n")
	x, _ := indexed(t, path, 1<<10)
	if err := os.WriteFile(path, []byte("a\n\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := x.Read(2, func(int, []byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "the file has changed since it was read") {
		t.Errorf("got %v", err)
	}
}

// The first error of those who parse or take ends the reading.
func TestErrorsEndTheReading(t *testing.T) {
	path := textfileWritten(t, strings.Repeat("line\n", 1000))
	wrong := errors.New("wrong")
	for _, where := range []string{"parse", "take"} {
		taken := 0
		x, err := Parse(context.Background(), Source{Path: path, ChunkSize: 50},
			func(c *Chunk) (int, error) {
				n := 0
				for range c.Lines() {
					n++
				}
				if where == "parse" {
					return n, wrong
				}
				return n, nil
			},
			func(n int) error { taken += n; return wrong })
		if !errors.Is(err, wrong) || x != nil || where == "take" && (taken == 0 || taken > 20) ||
			where == "parse" && taken > 0 {
			t.Errorf("%s: %v after %d lines", where, err, taken)
		}
	}
}

func TestTheEndOfTheContextEndsTheReading(t *testing.T) {
	path := textfileWritten(t, strings.Repeat("line\n", 3000))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Each(ctx, path, 0, func(int, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("in order: %v", err)
	}
	_, err := Parse(ctx, Source{Path: path, ChunkSize: 50}, func(*Chunk) (int, error) { return 0, nil },
		func(int) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("in chunks: %v", err)
	}
}
