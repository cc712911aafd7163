package html

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/summary"
)

// Ten reports of one model are ten tabs of a browser.
func TestTitleIsTheRunThenItsLoad(t *testing.T) {
	load := []any{artifact.Object{{Key: "name", Value: "profiling"}, {Key: "type", Value: "concurrency"},
		{Key: "concurrency", Value: 8}}}
	for _, c := range []struct{ label, varied, model, dir, want string }{
		{"night", "", "org/m", "artifacts/x", "night · concurrency 8"},
		{"", "base", "org/m", "artifacts/eager-mode", "eager-mode · concurrency 8"}, {"", "base", "org/m", "c8", "c8 · concurrency 8"},
		{"", "", "org/m", "a/run_0001", "a · concurrency 8"},
		{"", "", "org/m", "artifacts", "org/m · concurrency 8"},
		{"", "", "org/m", "a/org_m-openai-chat-concurrency8", "org/m · concurrency 8"},
		{"rate_2", "phases.profiling.rate=2", "org/m", "/a/night/rate_2/profile_runs/run_0001", "night · rate 2"},
		{"rate_2_run_0003", "phases.profiling.rate=2", "m", "/a/night/rate_2/profile_runs/run_0003",
			"night · rate 2, run 3"},
		{"run_0002", "base", "m", "/a/night/profile_runs/run_0002", "night · concurrency 8, run 2"},
		{"", "", "", "", "Benchmark · concurrency 8"},
	} {
		info := summary.RunInfo{RunLabel: c.label, VariationLabel: c.varied}
		r := &summary.Result{Run: summary.Run{RunInfo: info}}
		r.InputConfig = artifact.Object{{Key: "artifacts", Value: artifact.Object{{Key: "dir", Value: c.dir}}},
			{Key: "phases", Value: load}}
		if c.model != "" {
			r.InputConfig = append(r.InputConfig, artifact.Member{Key: "models", Value: []any{c.model}})
		}
		page := render(t, r, &Run{})
		if !strings.Contains(page, "<title>"+c.want+" · AIPerf report</title>") {
			t.Errorf("%+v: %s", c, element(t, page, "<title>", "</title>"))
		}
	}
}

func TestContentsLeadToTheSections(t *testing.T) {
	r, run := result(t, 300)
	for name, page := range map[string]string{
		"all": render(t, r, run), "none": render(t, &summary.Result{Run: summary.Run{Incomplete: "killed"}}, &Run{}),
	} {
		var ids, links []string
		_, main, _ := strings.Cut(page, `aria-label="Contents"`)
		for _, m := range regexp.MustCompile(`href="#(h-\w+)"`).FindAllStringSubmatch(main, -1) {
			links = append(links, m[1])
		}
		for _, m := range regexp.MustCompile(`<h2 id="(h-\w+)"`).FindAllStringSubmatch(main, -1) {
			if !slices.Contains([]string{"h-key", "h-limit", "h-sure", "h-conditions"}, m[1]) {
				ids = append(ids, m[1])
			}
		}
		if len(links) == 0 || !slices.Equal(links, ids) {
			t.Errorf("%s: contents %v of sections %v", name, links, ids)
		}
	}
}

// Each figure has its explanation, from the table of metrics, and what is wanted most comes first.
func TestMetricsAreExplainedAndWithinSight(t *testing.T) {
	r, run := result(t, 300)
	page := render(t, r, run)
	opened := map[string]bool{}
	for _, m := range regexp.MustCompile(`popovertarget="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		opened[m[1]] = true
	}
	for id := range opened {
		if n := strings.Count(page, `<div popover id="`+id+`"`); n != 1 {
			t.Errorf("%d explanations of %s", n, id)
		}
	}
	if len(opened) < 20 {
		t.Errorf("only %d explanations", len(opened))
	}
	for _, want := range []string{"Time from sending the request to its first content response", "first content − start",
		"p99 is what the best percent of the requests reach"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	head := element(t, page, `<table class="metrics stacked"><thead>`, "</thead>")
	var columns []string
	for _, m := range regexp.MustCompile(`<th[^>]*>([^<]*)<`).FindAllStringSubmatch(head, -1) {
		columns = append(columns, m[1])
	}
	want := "Metric avg p50 p90 p95 p99 std min max count p1 p5 p10 p25 p75"
	if got := strings.Join(columns, " "); got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
}

// A screen reader goes through landmarks: two of one name are one too many.
func TestLandmarksDiffer(t *testing.T) {
	r, run := result(t, 300)
	for what, page := range map[string]string{"a run": render(t, r, run), "a sweep": pageOf(t, "", sweepOfTwo()),
		"a search": pageOf(t, "", searched()), "a comparison": comparisonPage(t, runOf(t, "a", 1), runOf(t, "b", 2))} {
		landmarks(t, what, page)
	}
}

func landmarks(t *testing.T, what, page string) {
	t.Helper()
	names := map[string]bool{}
	for _, e := range tags(t, page) {
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		name := ""
		switch {
		case e.Name.Local == "section":
			name = element(t, page, `id="`+attr["aria-labelledby"]+`"`, "</h2>")
			_, name, _ = strings.Cut(name, ">")
		case attr["role"] == "region", e.Name.Local == "nav":
			name = attr["aria-label"]
		default:
			continue
		}
		if names[name] {
			t.Errorf("%s: two landmarks are called %s", what, name)
		}
		names[name] = true
	}
}

func TestBoundsHaveTheDigitsThatMatter(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{140.4, 145.7, "140 – 146"}, {5.8312, 5.9049, "5.83 – 5.90"}, {6.82, 7.02, "6.8 – 7.0"},
		{12_345.6, 13_999.9, "12,346 – 14,000"}, {0.00123, 0.00142, "0.0012 – 0.0014"}, {8, 8, "8 – 8"},
		{100.0001, 100.0002, "100.0 – 100.0"}, {notKnown, 7.123, "≤ 7.12"},
	} {
		if got := (&percentile{low: c.low, high: c.high, bounded: true}).interval(); got != c.want {
			t.Errorf("%g to %g is %s, want %s", c.low, c.high, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0.00", 0.0123456: "0.0123", -0.05: "-0.05", 12.345: "12.35"} {
		if got := fixed(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
}

// The title of a panel names its figure: its lines are named by their GPUs.
func TestLinesOfGPUsAreTheirNames(t *testing.T) {
	_, run := result(t, 100)
	at := []int64{origin, origin + second}
	run.GPUs = nil
	for _, gpu := range []string{"GPU 0 | NVIDIA H200", "GPU 1 | NVIDIA H200"} {
		run.GPUs = append(run.GPUs, timeline.Curve{Name: "GPU Power Usage", Unit: "W", Source: "h:9400", Labels: gpu,
			TimeNS: at, Values: []float64{1, 2}})
	}
	r, _ := result(t, 100)
	for _, c := range newData(r, run).Charts {
		if c.ID == "gpu-power" && (c.Series[0].Label != "GPU 0 · NVIDIA H200" ||
			c.Series[1].Label != "GPU 1 · NVIDIA H200") {
			t.Errorf("%+v", c.Series)
		}
	}
}
