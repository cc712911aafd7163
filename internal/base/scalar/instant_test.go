package scalar_test

import (
	"testing"
	"time"

	"aiperf/internal/base/scalar"
)

func TestInstant(t *testing.T) {
	want := time.Date(2026, 1, 31, 12, 0, 0, 250_000_000, time.UTC)
	for _, text := range []string{
		"2026-01-31T12:00:00.25Z", "2026-01-31T12:00:00.250", "2026-01-31 12:00:00.25", "2026-01-31T13:00:00.25+01:00",
		"2026-01-31T13:00:00.25+0100", "2026-01-31 13:00:00.25+01:00",
	} {
		if got, err := scalar.Instant(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "yesterday", "2026-01-31", "1769860800", "2026-13-01T00:00:00Z"} {
		if got, err := scalar.Instant(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
