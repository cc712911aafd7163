package inputconfig

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"aiperf/internal/config/adaptive"
	"aiperf/internal/config/document"
	"aiperf/internal/load"
)

func TestSearchIsReadBackAsItWasWritten(t *testing.T) {
	limits := []load.SLA{{Metric: "ttft", Stat: "p95", Op: "le", Threshold: 200.5}}
	for _, a := range []load.Adaptive{
		{Sustain: time.Minute, SLA: limits},
		{Variable: load.ControlRequestRate, Min: 0.5, Max: 12.5, Period: 2500 * time.Millisecond, Sustain: time.Second,
			MinCompleted: 7, Policy: load.FixedPercentStep, BaseStep: 3, MaxMultiplier: 2, StepPercent: 12.5,
			SLA: limits},
	} {
		report := func(_ *document.Node, path, format string, args ...any) {
			t.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
		}
		back := adaptive.Parse(document.Of(searchConfig(&a)), "", report)
		if want := a.WithDefaults(); back == nil || !reflect.DeepEqual(*back, want) {
			t.Errorf("read back as %+v, want %+v", back, want)
		}
	}
	if searchConfig(nil) != nil {
		t.Error("a phase without a search has one")
	}
}
