// Package configtest holds what the tests of the rooms of config share.
package configtest

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// Words splits a command line at blanks; a part in single quotes stays whole.
func Words(line string) []string {
	var args []string
	var word strings.Builder
	open, quoted := false, false
	flush := func() {
		if open {
			args = append(args, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case r == ' ' && !quoted:
			flush()
		default:
			word.WriteRune(r)
			open = true
		}
	}
	flush()
	return args
}

// Environ looks variables up among NAME=value entries.
func Environ(entries ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, e := range entries {
			if key, value, _ := strings.Cut(e, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

// WantText checks that a text contains all parts.
func WantText(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q does not contain %q", what, text, part)
		}
	}
}

// Texting writes warnings one a line, each with its level.
func Texting(warnings []fault.Warning) string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, string(w.Level)+" "+w.Text)
	}
	return strings.Join(lines, "\n")
}

// WantObject checks an object.
func WantObject(t *testing.T, got, want artifact.Object) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// WriteFile writes a file into a folder of the test and returns its path.
func WriteFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
