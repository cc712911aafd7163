package metrics_test

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
)

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		from, to metrics.Unit
		want     float64
	}{
		{metrics.Nanoseconds, metrics.Milliseconds, 1e-06},
		{metrics.Nanoseconds, metrics.Microseconds, 1e-03},
		{metrics.Nanoseconds, metrics.Seconds, 1e-09},
		{metrics.Milliseconds, metrics.Nanoseconds, 1e6},
		{metrics.Seconds, metrics.Milliseconds, 1000},
		{metrics.Bytes, metrics.Kilobytes, 1.0 / 1024},
		{metrics.Gigabytes, metrics.Megabytes, 1024},
		{metrics.Terabytes, metrics.Bytes, 1 << 40},
		{metrics.GigabytesPerSecond, metrics.MegabytesPerSecond, 1024},
		{metrics.Milliwatts, metrics.Watts, 1e-03},
		{metrics.Millijoules, metrics.Joules, 1e-03},
		{metrics.Megajoules, metrics.Joules, 1e6},
		{metrics.Gigahertz, metrics.Megahertz, 1000},
		{metrics.Tokens, metrics.Tokens, 1},
	} {
		got, err := metrics.RatioOf(c.from, c.to)
		if err != nil || got != c.want {
			t.Errorf("RatioOf(%s, %s) = %v, %v; want %v", c.from, c.to, got, err, c.want)
		}
	}
}

func TestRatioRefusesForeignDimensions(t *testing.T) {
	for _, c := range [][2]metrics.Unit{
		{metrics.Nanoseconds, metrics.Bytes},
		{metrics.Tokens, metrics.Requests},
		{"°C", "°F"},
		{"furlong", metrics.Seconds},
	} {
		_, err := metrics.RatioOf(c[0], c[1])
		if err == nil || !strings.Contains(err.Error(), string(c[0])) {
			t.Errorf("RatioOf(%s, %s): error %v, want one that names the unit", c[0], c[1], err)
		}
	}
}

func ratio(t *testing.T, from, to metrics.Unit) float64 {
	t.Helper()
	r, err := metrics.RatioOf(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The conversion is a multiplication by the ratio, not a division by its inverse.
func TestTrapNanosecondsToMillisecondsMultiplies(t *testing.T) {
	got := 255886568.0 * ratio(t, metrics.Nanoseconds, metrics.Milliseconds)
	if got != 255.88656799999998 {
		t.Errorf("255886568 ns = %v ms, want 255.88656799999998", got)
	}
}

func TestTrapBenchmarkDurationKeepsItsLastDigit(t *testing.T) {
	got := 730000000.0 * ratio(t, metrics.Nanoseconds, metrics.Seconds)
	if got != 0.7300000000000001 {
		t.Errorf("730000000 ns = %v sec, want 0.7300000000000001", got)
	}
	if rate := 3 / got; rate != 4.10958904109589 {
		t.Errorf("3 requests in it: %v requests/sec, want 4.10958904109589", rate)
	}
}
