package page

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/httpd"
)

func TestThrottledGPUsShowWhy(t *testing.T) {
	for spec, want := range map[string][]string{
		"":            {"POWER_USAGE 637.00", "SM_CLOCK 1980.00", "REASONS 0.00", "POWER_VIOLATION 0.00"},
		"power=0.5":   {"POWER_USAGE 700.00", "SM_CLOCK 990.00", "REASONS 4.00", "GPU_TEMP 75.00", "THERMAL_VIOLATION 0.00"},
		"heat=0.5":    {"POWER_USAGE 353.50", "SM_CLOCK 990.00", "REASONS 32.00", "GPU_TEMP 88.70", "POWER_VIOLATION 0.00"},
		"clocks=0.5":  {"POWER_USAGE 353.50", "SM_CLOCK 990.00", "REASONS 2.00", "GPU_TEMP 75.00", "POWER_VIOLATION 0.00"},
		"power=0.5@9": {"POWER_USAGE 637.00", "SM_CLOCK 1980.00", "REASONS 0.00"},
	} {
		curve := LoadCurve{{Load: 0.9}}
		o := GPUOptions{Count: 1, Load: &curve}
		if spec != "" {
			var err error
			if o.Throttle, err = ParseThrottle(spec); err != nil {
				t.Fatal(err)
			}
		}
		g, err := newGPUPages(o, clock.New())
		if err != nil {
			t.Fatal(err)
		}
		none := httpd.NoPageFault()
		text := string(g.body(nil, 0, 0, &none))
		for _, line := range want {
			name, value, _ := strings.Cut(line, " ")
			if !strings.Contains(text, value+"\n") || !strings.Contains(text, name+"{") || !shows(text, name, value) {
				t.Errorf("%q: no %s in\n%s", spec, line, text)
			}
		}
	}
	for _, wrong := range []string{"power", "rain=0.5", "power=0", "power=2", "heat=0.5@-1"} {
		if _, err := ParseThrottle(wrong); err == nil {
			t.Errorf("%q is a throttle", wrong)
		}
	}
	if s := (Throttle{Speed: 0.5, After: time.Second}); s.SpeedAt(1) != 1 || s.SpeedAt(1e9) != 0.5 {
		t.Error("the throttle does not begin at its time")
	}
}

// shows reports whether the family whose name ends so has the value.
func shows(text, name, value string) bool {
	for line := range strings.Lines(text) {
		if before, after, ok := strings.Cut(line, "{"); ok && strings.HasSuffix(before, name) {
			return strings.HasSuffix(after, "} "+value+"\n")
		}
	}
	return false
}
