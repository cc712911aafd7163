package loader

import (
	"math"
	"strings"
	"time"

	"aiperf/internal/workload/rows"
)

// instantLayouts are those of times that are written as texts. A time without a zone is one of UTC.
var instantLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04", "2006-01-02 15:04",
	"2006/01/02 15:04:05.999999999", "02/Jan/2006:15:04:05 -0700", time.RFC1123Z, time.RFC1123,
}

// The least numbers that are times of the clock in each unit: all of 1973, and no duration of a recording. A number
// below is a time since the beginning of the recording.
const (
	leastSeconds = 1e8
	leastMS      = 1e11
	leastUS      = 1e14
	leastNS      = 1e17
)

// instant returns a time in milliseconds since 1970; small reports that it is a number of a unit that its size does not
// tell.
func instant(v any) (ms float64, small, ok bool) {
	if text, isText := v.(string); isText {
		text = strings.TrimSpace(text)
		for _, layout := range instantLayouts {
			if at, err := time.Parse(layout, text); err == nil {
				return float64(at.UnixMicro()) / 1000, false, true
			}
		}
	}
	x, ok := numberOfValue(v)
	switch {
	case !ok || x < 0 || x > 1e19:
		return 0, false, false
	case x >= leastNS:
		x /= 1e6
	case x >= leastUS:
		x /= 1e3
	case x >= leastMS:
	case x >= leastSeconds:
		x *= 1e3
	default:
		return x, true, true
	}
	return math.Round(x*1e3) / 1e3, false, true
}

// chooseUnit decides the unit of small times: what the name of the column says, else seconds where some are fractions
// and milliseconds where none is.
func (c *tableColumns) chooseUnit(first []rows.Row) {
	c.unit, c.unitName = 1, "milliseconds"
	column := strings.ToLower(c.of[roleTime])
	small, fractions := false, false
	for _, row := range first {
		v := c.value(row, roleTime)
		x, isSmall, ok := instant(v)
		small = small || ok && isSmall
		fractions = fractions || ok && isSmall && x != math.Trunc(x)
	}
	switch {
	case !small:
		c.unitName = "times of the clock"
	case strings.HasSuffix(column, "_ms") || strings.HasSuffix(column, "ms)"):
	case strings.HasSuffix(column, "_us"):
		c.unit, c.unitName = 1e-3, "microseconds"
	case strings.HasSuffix(column, "_ns"):
		c.unit, c.unitName = 1e-6, "nanoseconds"
	case fractions || strings.HasSuffix(column, "_s") || strings.HasSuffix(column, "_sec") ||
		strings.HasSuffix(column, "seconds"):
		c.unit, c.unitName = 1e3, "seconds"
	}
}

// milliseconds returns the time of a row in milliseconds.
func (c *tableColumns) milliseconds(v any) (float64, bool) {
	ms, small, ok := instant(v)
	if small {
		ms = math.Round(ms*c.unit*1e6) / 1e6
	}
	return ms, ok && ms <= maxMS
}
