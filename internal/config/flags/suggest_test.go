package flags_test

import (
	"strings"
	"testing"

	"aiperf/internal/base/suggest"
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
