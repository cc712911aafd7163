package unit_test

import (
	"strings"
	"testing"

	"aiperf/internal/measure/unit"
)

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		from, to unit.Unit
		want     float64
	}{
		{unit.Nanoseconds, unit.Milliseconds, 1e-06},
		{unit.Nanoseconds, unit.Microseconds, 1e-03},
		{unit.Nanoseconds, unit.Seconds, 1e-09},
		{unit.Milliseconds, unit.Nanoseconds, 1e6},
		{unit.Seconds, unit.Milliseconds, 1000},
		{unit.Bytes, unit.Kilobytes, 1.0 / 1024},
		{unit.Gigabytes, unit.Megabytes, 1024},
		{unit.Terabytes, unit.Bytes, 1 << 40},
		{unit.GigabytesPerSecond, unit.MegabytesPerSecond, 1024},
		{unit.Milliwatts, unit.Watts, 1e-03},
		{unit.Millijoules, unit.Joules, 1e-03},
		{unit.Megajoules, unit.Joules, 1e6},
		{unit.Gigahertz, unit.Megahertz, 1000},
		{unit.Tokens, unit.Tokens, 1},
	} {
		got, err := unit.RatioOf(c.from, c.to)
		if err != nil || got != c.want {
			t.Errorf("RatioOf(%s, %s) = %v, %v; want %v", c.from, c.to, got, err, c.want)
		}
	}
}

func TestRatioRefusesForeignDimensions(t *testing.T) {
	for _, c := range [][2]unit.Unit{
		{unit.Nanoseconds, unit.Bytes},
		{unit.Tokens, unit.Requests},
		{"°C", "°F"},
		{"furlong", unit.Seconds},
	} {
		_, err := unit.RatioOf(c[0], c[1])
		if err == nil || !strings.Contains(err.Error(), string(c[0])) {
			t.Errorf("RatioOf(%s, %s): error %v, want one that names the unit", c[0], c[1], err)
		}
	}
}

func ratio(t *testing.T, from, to unit.Unit) float64 {
	t.Helper()
	r, err := unit.RatioOf(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The conversion is a multiplication by the ratio, not a division by its inverse.
func TestTrapNanosecondsToMillisecondsMultiplies(t *testing.T) {
	got := 255886568.0 * ratio(t, unit.Nanoseconds, unit.Milliseconds)
	if got != 255.88656799999998 {
		t.Errorf("255886568 ns = %v ms, want 255.88656799999998", got)
	}
}

func TestTrapBenchmarkDurationKeepsItsLastDigit(t *testing.T) {
	got := 730000000.0 * ratio(t, unit.Nanoseconds, unit.Seconds)
	if got != 0.7300000000000001 {
		t.Errorf("730000000 ns = %v sec, want 0.7300000000000001", got)
	}
	if rate := 3 / got; rate != 4.10958904109589 {
		t.Errorf("3 requests in it: %v requests/sec, want 4.10958904109589", rate)
	}
}
