package scalar

import (
	"fmt"
	"time"
)

// instants are the spellings of ISO 8601 that recordings use; the zone may be missing.
var instants = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
}

// Instant reads a date with a time of day; without a zone it is in UTC.
func Instant(text string) (time.Time, error) {
	for _, layout := range instants {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-01-31T12:00:00Z", text)
}
