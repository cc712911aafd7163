package inputconfig

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/schema"
)

func TestTrapAllPhasesAreExportedWithWhatOnlyAFileCanSay(t *testing.T) {
	half, tenth, eight := 0.5, 0.1, 8
	r := &config.Run{FailedRequestThreshold: &half, FailFast: true, Phases: []config.Phase{
		{Name: "pre", Kind: config.WarmupPhase, Mode: config.Burst, FailedRequestThreshold: &tenth},
		{Name: "rise", Kind: config.ProfilingPhase, Mode: config.Burst, Concurrency: &eight, Seamless: true,
			ConcurrencyRamp: 2 * time.Second, ConcurrencyRampShape: "exponential", PrefillRamp: time.Second,
			PrefillRampShape: "linear"},
		{Name: "hold", Kind: config.ProfilingPhase, Mode: config.Rate, Rate: 5, Pattern: config.PatternConstant,
			RateRamp: time.Second, RateRampShape: "poisson", FailedRequestThreshold: &tenth},
	}}
	for i, want := range []string{
		`{"name":"pre","kind":"warmup","type":"concurrency","exclude_from_results":true,"failed_request_threshold":0.1}`,
		`{"name":"rise","kind":"profiling","type":"concurrency","concurrency":8,"concurrency_ramp":{"duration":2.0,` +
			`"strategy":"exponential"},"prefill_ramp":1.0,"seamless":true,"failed_request_threshold":0.5}`,
		`{"name":"hold","kind":"profiling","type":"constant","rate":5.0,"rate_ramp":{"duration":1.0,` +
			`"strategy":"poisson"},"failed_request_threshold":0.1}`,
	} {
		known, further := split(Object{{Key: "phases", Value: []any{phaseConfig(&r.Phases[i], r)}}}, schema.Body(), "")
		if got := jsonText(t, known); got != `{"phases":[`+want+`]}` || len(further) > 0 {
			t.Errorf("got  %s, further %s\nwant %s", strings.TrimSpace(got), jsonText(t, further), want)
		}
	}
}
