package resolve

import (
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

func TestRateSeriesFiles(t *testing.T) {
	want := []config.RatePoint{{Seconds: 0, Rate: 5}, {Seconds: 1.5, Rate: 10}}
	for _, text := range []string{
		`[{"time_s":0,"qps":5},{"qps":10,"time_s":1.5}]`,
		"\ufeff" + `{"points": [{"time_s":0,"qps":5},` + "\n" + `{"time_s":1.5,"qps":1e1}]}` + "\n",
	} {
		run, _ := mustResolve(t, "-m m --request-rate-series "+configtest.WriteFile(t, "series.json", text))
		ph := run.Profiling()
		if !reflect.DeepEqual(ph.Series, want) || ph.Mode != config.Rate || ph.Pattern != config.PatternConstant ||
			ph.Rate != 0 ||
			*ph.Requests != 10 {
			t.Errorf("%s: %+v", text, ph)
		}
		if dir := run.Artifacts.Dir; !strings.HasSuffix(dir, "-request_rate_series") {
			t.Errorf("folder %s", dir)
		}
	}
	run, _ := mustResolve(t, "-m m --arrival-smoothness 2 --request-rate-series "+
		configtest.WriteFile(t, "series.json", `[{"time_s":0,"qps":5},{"time_s":1,"qps":10}]`))
	if ph := run.Profiling(); ph.Pattern != config.PatternGamma || ph.Smoothness != 2 {
		t.Errorf("with a smoothness: %+v", ph)
	}
}

func TestWarmupBeforeARateSeries(t *testing.T) {
	line := "-m m --warmup-request-count 3 --request-rate-series " +
		configtest.WriteFile(t, "series.json", `[{"time_s":0,"qps":5},{"time_s":1,"qps":10}]`)
	run, _ := mustResolve(t, line)
	if w := run.Warmup(); w.Mode != config.Rate || w.Rate != 5 || w.Pattern != config.PatternConstant ||
		w.Series != nil {
		t.Errorf("the warm-up goes at the first rate: %+v", w)
	}
	run, _ = mustResolve(t, line+" --warmup-request-rate 7")
	if w := run.Warmup(); w.Rate != 7 {
		t.Errorf("its own rate: %+v", w)
	}
}

func TestMistakesInARateSeries(t *testing.T) {
	for text, want := range map[string]string{
		``: "not valid JSON",
		"[{\"time_s\":0,\"qps\":5},\n{\"time_s\"": "line 2: not valid JSON",
		`5`:                      "want a list of points",
		`[]`:                     "at least 2 points, got 0",
		`[{"time_s":0,"qps":5}]`: "at least 2 points, got 1",
		`{"rates":[]}`:           `the single key "points"`,
		`{"points":[],"more":1}`: `the single key "points"`,
		`{}`:                     `the key "points" is missing`,
		`{"points":null}`:        "want a list of points",
		`[{"time_s":0,"qps":5},{"time_s":0,"qps":6}]`: "point 2: time_s 0 must be later than 0 of the point " +
			"before",
		`[{"time_s":0,"qps":5},{"time_s":1e-12,"qps":6}]`:      "must be later than 0",
		`[{"time_s":-1,"qps":5},{"time_s":1,"qps":6}]`:         "point 1: time_s -1 must be at least 0",
		`[{"time_s":0,"qps":0},{"time_s":1,"qps":6}]`:          "point 1: qps 0 must be above 0",
		`[{"time_s":0,"qps":5},{"time_s":1,"qps":6,"rate":1}]`: `point 2, {"time_s":1,"qps":6,"rate":1}: json: unknown field "rate"`,
		`[{"time_s":0},{"time_s":1,"qps":6}]`:                  "want both time_s and qps",
		`[{"time_s":"0","qps":5},{"time_s":1,"qps":6}]`:        "point 1",
		`[{"time_s":0,"qps":5},{"time_s":1e300,"qps":6}]`:      "point 2",
		`[null,{"time_s":1,"qps":6}]`:                          "point 1",
	} {
		file := configtest.WriteFile(t, "series.json", text)
		faults := resolveError(t, "-m m --request-rate-series "+file)
		if len(faults) != 1 {
			t.Errorf("%s: %d faults: %v", text, len(faults), faults)
		}
		configtest.WantText(t, text, faults.Error(), "--request-rate-series", file, want)
	}
}
