package jsonscan_test

import (
	"bytes"
	"slices"
	"testing"

	"aiperf/internal/base/jsonscan"
)

// all reads what comes next down to its leaves and returns these, and the keys.
func all(s *jsonscan.Scanner, out []string) []string {
	switch s.Peek() {
	case '{':
		for key := range s.Members() {
			out = all(s, append(out, string(key)))
		}
	case '[':
		for range s.Elements() {
			out = all(s, out)
		}
	default:
		out = append(out, string(s.Value()))
	}
	return out
}

// leaves returns what all is to find, by the walks.
func leaves(out []string, raw []byte) []string {
	switch raw[0] {
	case '{':
		for m := range jsonscan.Members(raw) {
			out = leaves(append(out, string(m.Key)), m.Value)
		}
	case '[':
		for e := range jsonscan.Elements(raw) {
			out = leaves(out, e)
		}
	default:
		out = append(out, string(raw))
	}
	return out
}

// FuzzScanner reads texts value by value: the faults are those of a text that is passed over as one, and what is read
// is what the walks find.
func FuzzScanner(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := jsonscan.Scanner{Text: data}
		got := all(&s, nil)
		s.End()
		if want := jsonscan.Document(data, 0); s.At != want {
			t.Fatalf("%q: read to %d, passed over to %d", data, s.At, want)
		}
		if s.At < 0 {
			return
		}
		if want := leaves(nil, bytes.Trim(data, " \t\r\n")); !slices.Equal(got, want) || s.Depth != 0 {
			t.Fatalf("%q: read %q to depth %d, walks find %q", data, got, s.Depth, want)
		}
	})
}
