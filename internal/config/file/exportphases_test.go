package file_test

import (
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/file"
)

func TestTrapAllPhasesAreExportedWithWhatOnlyAFileCanSay(t *testing.T) {
	half, tenth, eight := 0.5, 0.1, 8
	r := asked(config.Run{FailedRequestThreshold: &half, FailFast: true, Phases: []config.Phase{
		{Name: "pre", Kind: config.WarmupPhase, Mode: config.Burst, FailedRequestThreshold: &tenth},
		{Name: "rise", Kind: config.ProfilingPhase, Mode: config.Burst, Concurrency: &eight, Seamless: true,
			ConcurrencyRamp: 2 * time.Second, ConcurrencyRampShape: "exponential", PrefillRamp: time.Second,
			PrefillRampShape: "linear"},
		{Name: "hold", Kind: config.ProfilingPhase, Mode: config.Rate, Rate: 5, Pattern: config.PatternConstant,
			RateRamp: time.Second, RateRampShape: "poisson", FailedRequestThreshold: &tenth},
	}})
	phases, _ := file.Exported(r).Get("phases")
	if _, apart := file.ExportedFurther(r).Get("phases"); apart || len(phases.([]any)) != len(r.Phases) {
		t.Fatalf("%v, further %s", phases, jsonText(t, file.ExportedFurther(r)))
	}
	for i, want := range []string{
		`{"name":"pre","kind":"warmup","type":"concurrency","exclude_from_results":true,"failed_request_threshold":0.1}`,
		`{"name":"rise","kind":"profiling","type":"concurrency","concurrency":8,"concurrency_ramp":{"duration":2.0,` +
			`"strategy":"exponential"},"prefill_ramp":1.0,"seamless":true,"failed_request_threshold":0.5}`,
		`{"name":"hold","kind":"profiling","type":"constant","rate":5.0,"rate_ramp":{"duration":1.0,` +
			`"strategy":"poisson"},"failed_request_threshold":0.1}`,
	} {
		if got := jsonText(t, phases.([]any)[i].(file.Object)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
