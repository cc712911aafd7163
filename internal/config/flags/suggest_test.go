package flags_test

import (
	"strings"
	"testing"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/flags"
)

func TestNearestName(t *testing.T) {
	names := []string{"concurrency", "request-rate", "url"}
	for word, want := range map[string]string{
		"concurency": "concurrency", "conucrrency": "concurrency", "request-rat": "request-rate", "ulr": "url",
		"zzzzzzzzz": "",
		"request":   "request-rate", "conc": "concurrency", "x": "", strings.Repeat("a", 5000): "", strings.Repeat("concurrency", 1000): "",
	} {
		if got := suggest.Nearest(word, names); got != want {
			t.Errorf("Nearest(%.20s) = %q, want %q", word, got, want)
		}
	}
}

// A short flag is near to no other: only one that differs by its case is meant.
func TestNearestShortFlag(t *testing.T) {
	table := flags.Table{Flags: []flags.Flag{
		flags.Value("url -u", "URL", "address", func(string) error { return nil }),
		flags.Value("osl", "N", "length", func(string) error { return nil })}}
	for typed, want := range map[string]string{"-U": "-u", "-o": "", "-x": "", "--x": "", "--ols": "--osl", "-os": "--osl"} {
		if got := table.Nearest(typed); got != want {
			t.Errorf("Nearest(%s) = %q, want %q", typed, got, want)
		}
	}
}
