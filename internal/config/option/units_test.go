package option_test

import (
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/config/option"
)

// isTime matches what flags of times have in their help.
var isTime = regexp.MustCompile(`(?i)\bseconds\b|\bmilliseconds\b`)

// noTimes are flags whose help has such a word for another reason.
var noTimes = map[string]string{
	"--request-rate":        "requests per second",
	"--user-centric-rate":   "requests per second",
	"--warmup-request-rate": "requests per second",
}

// TestTimesTakeUnits: each flag whose value is a time takes it with a unit, whatever its own is.
func TestTimesTakeUnits(t *testing.T) {
	checked := 0
	for _, o := range option.All() {
		if (o.Type != option.Float && o.Type != option.Int) || !isTime.MatchString(o.Help) {
			continue
		}
		name := "--" + o.Usual()
		if o.Unit == 0 {
			if _, known := noTimes[name]; !known {
				t.Errorf("%s is a time without units: %s", name, o.Help)
			}
			continue
		}
		checked++
		for _, text := range []string{"2s", "2000ms", "1m", "1"} {
			if _, _, err := o.Parse([]string{text}); err != nil && !strings.Contains(err.Error(), "out of range") {
				t.Errorf("%s %s: %v", name, text, err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d flags are times", checked)
	}
}

// TestSharesMayBeInPercent: a flag whose value is from 0 to 1 is a share.
func TestSharesMayBeInPercent(t *testing.T) {
	for name, want := range map[string]float64{"--error-rate-sla": 0.01, "--request-cancellation-rate": 1} {
		i, _ := option.Flags().Find(name)
		if i < 0 {
			t.Fatalf("no %s", name)
		}
		o := option.All()[i]
		for _, text := range []string{"1%", option.FormatFloat(want)} {
			if v, _, err := o.Parse([]string{text}); err != nil || v != want {
				t.Errorf("%s %s: %v, %v, want %g", name, text, v, err, want)
			}
		}
	}
}
