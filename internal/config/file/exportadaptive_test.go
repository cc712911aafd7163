package file_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/parse"
	schedule "aiperf/internal/load"
)

func TestSearchIsReadBackAsItWasWritten(t *testing.T) {
	limits := []schedule.SLA{{Metric: "ttft", Stat: "p95", Op: "le", Threshold: 200.5}}
	for _, a := range []schedule.Adaptive{
		{Sustain: time.Minute, SLA: limits},
		{Variable: schedule.ControlRequestRate, Min: 0.5, Max: 12.5, Period: 2500 * time.Millisecond,
			Sustain:      time.Second,
			MinCompleted: 7, Policy: schedule.FixedPercentStep, BaseStep: 3, MaxMultiplier: 2, StepPercent: 12.5,
			SLA: limits},
	} {
		report := func(_ *document.Node, path, format string, args ...any) {
			t.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
		}
		back := parse.Adaptive(document.Of(phase(t, &a)), "", report)
		if want := a.WithDefaults(); back == nil || !reflect.DeepEqual(*back, want) {
			t.Errorf("read back as %+v, want %+v", back, want)
		}
	}
	for _, m := range phase(t, nil) {
		if strings.HasPrefix(m.Key, "adaptive_") || m.Key == "sla" {
			t.Errorf("a phase without a search has %s", m.Key)
		}
	}
}

// phase returns a phase with a search as exports carry it.
func phase(t *testing.T, a *schedule.Adaptive) file.Object {
	t.Helper()
	r := asked(config.Run{Phases: []config.Phase{{Name: "profiling", Kind: config.ProfilingPhase, Mode: config.Burst,
		Adaptive: a}}})
	phases, _ := file.ExportedWhole(r).Get("phases")
	return phases.([]any)[0].(file.Object)
}
