package summary_test

import (
	"slices"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/summary"
)

const start = int64(1_700_000_000_000_000_000)

func set(t *testing.T) *metrics.Set {
	t.Helper()
	cfg := metrics.DefaultConfig()
	cfg.Streaming, cfg.ProducesTokens, cfg.TokenizesInput = true, true, true
	s, err := metrics.NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func success(latencyNS int64) *record.Record {
	r := &record.Record{Facts: record.NewFacts()}
	r.Facts[record.StartWall] = start
	r.Facts[record.Contents] = 1
	r.Facts[record.FirstContent], r.Facts[record.LastContent] = latencyNS, latencyNS
	r.Facts[record.LastResponse], r.Facts[record.End] = latencyNS+5, latencyNS+5
	r.Facts[record.OutputTokens] = 3
	r.Facts[record.UsagePrompt], r.Facts[record.UsageCacheRead] = 9, 4
	return r
}

func failure() *record.Record {
	r := &record.Record{Facts: record.NewFacts(), Err: &record.Error{Code: 500, HasCode: true, Type: "T", Message: "m"}}
	r.Facts[record.StartWall], r.Facts[record.End], r.Facts[record.Failed] = start, 2000, 1
	return r
}

func TestBuild(t *testing.T) {
	s := set(t)
	profiling, warmup := s.NewEngine(), s.NewEngine()
	profiling.Add(success(1000))
	profiling.Add(failure())
	profiling.Add(failure())
	warmup.Add(success(700))
	got := summary.Build(summary.Run{
		AIPerfVersion: "1.0.0", BenchmarkID: "b", EndpointTitle: "LLM Metrics", WasCancelled: true,
		Incomplete: "disk full",
		RunInfo:    summary.RunInfo{Trial: 2},
		Counts:     summary.Counts{Sent: 4, CutOff: 1, Successes: 99, TargetRate: 7},
	}, profiling, warmup)

	if got.AIPerfVersion != "1.0.0" || got.BenchmarkID != "b" || got.EndpointTitle != "LLM Metrics" ||
		!got.WasCancelled || got.Incomplete != "disk full" || got.RunInfo.Trial != 2 {
		t.Errorf("run facts were lost: %+v", got)
	}
	if want := (summary.Counts{Sent: 4, CutOff: 1, Successes: 1, Errors: 2, TargetRate: 7}); got.Counts != want {
		t.Errorf("counts %+v, want %+v", got.Counts, want)
	}
	if len(got.Errors) != 1 || got.Errors[0].Count != 2 || got.Errors[0].Error.Message != "m" {
		t.Errorf("errors %+v", got.Errors)
	}
	if got.StartNS != start || got.EndNS != start+2000 {
		t.Errorf("from %d to %d, want the first send and the last failure", got.StartNS, got.EndNS)
	}
	if !got.UsageReported || !got.CacheReported {
		t.Error("usage and cache were reported")
	}
	if r, ok := got.Find("request_latency"); !ok || r.Stats.Avg != 0.001 {
		t.Errorf("request_latency %+v", r)
	}
	i := slices.IndexFunc(got.Warmup, func(r metrics.Metric) bool { return r.Tag == "request_latency" })
	if i < 0 || got.Warmup[i].Stats.Avg != 0.0007 {
		t.Errorf("warm-up results %+v", got.Warmup)
	}
}

func TestBuildWithoutWarmupAndRecords(t *testing.T) {
	got := summary.Build(summary.Run{StartNS: start}, set(t).NewEngine(), nil)
	if got.Warmup != nil || len(got.Metrics) != 0 || len(got.Errors) != 0 {
		t.Errorf("results of nothing: %+v", got)
	}
	if got.StartNS != start || got.EndNS != start {
		t.Errorf("from %d to %d, want the phase's start for both", got.StartNS, got.EndNS)
	}
	if _, ok := got.Find("request_latency"); ok {
		t.Error("found a metric without a value")
	}
}

func TestBuildWithSlices(t *testing.T) {
	cfg := metrics.DefaultConfig()
	cfg.SliceNS = 1000
	s, err := metrics.NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	profiling, warmup := s.NewEngine(), s.NewEngine()
	profiling.Add(success(700))
	warmup.Add(success(700))
	late := failure()
	late.Facts[record.StartWall] += 5000
	profiling.Add(late)
	got := summary.Build(summary.Run{}, profiling, warmup).Slices
	if len(got) != 2 || got[0].StartNS != start || !got[0].Complete || got[1].StartNS != start+5000 {
		t.Errorf("slices %+v", got)
	}
	if got := summary.Build(summary.Run{}, set(t).NewEngine(), nil).Slices; got != nil {
		t.Errorf("slices though they are off: %+v", got)
	}
}

func TestOrderedBlocks(t *testing.T) {
	var results []metrics.Metric
	for _, tag := range []string{"usage_total_tokens", "total_isl", "http_req_blocked", "request_latency",
		"decode_duration", "request_throughput", "total_error_isl", "goodput"} {
		results = append(results, metrics.Metric{Tag: tag})
	}
	leading, remaining := summary.OrderedBlocks(results)
	if got, want := tags(leading), []string{"request_throughput", "request_latency", "goodput", "total_isl",
		"total_error_isl"}; !slices.Equal(got, want) {
		t.Errorf("leading %v, want %v", got, want)
	}
	if got, want := tags(remaining),
		[]string{"decode_duration", "http_req_blocked", "usage_total_tokens"}; !slices.Equal(got, want) {
		t.Errorf("remaining %v, want %v", got, want)
	}
}

// Every block that opens the file is a metric of the table.
func TestLeadingBlocksExist(t *testing.T) {
	leading, _ := summary.OrderedBlocks(func() []metrics.Metric {
		var all []metrics.Metric
		for _, d := range metrics.Table() {
			all = append(all, metrics.Metric{Tag: d.Tag})
		}
		return all
	}())
	if len(leading) != 25 {
		t.Errorf("%d leading blocks, want 25: %v", len(leading), tags(leading))
	}
}

func tags(results []metrics.Metric) []string {
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = r.Tag
	}
	return out
}

// The figures of GPUs follow all other metrics, in their own order; the others are sorted by tag.
func TestFiguresOfGPUsComeLast(t *testing.T) {
	var list []metrics.Metric
	for _, m := range []struct {
		tag   string
		order int
		group metrics.Group
	}{
		{"amd_total_gpu_energy", 830, metrics.GroupGPUAMD}, {"nvidia_total_gpu_power", 740, metrics.GroupGPUNVIDIA},
		{"usage_total_tokens", 1200, metrics.GroupUsage}, {"total_gpu_energy", 901, metrics.GroupGPU},
		{"total_gpu_power", 900, metrics.GroupGPU}, {"nvidia_energy_delay_product", 700, metrics.GroupGPUNVIDIA},
		{"energy_per_user", 903, metrics.GroupGPU}, {"image_latency", 820, metrics.GroupDefault},
		{"request_count", 900, metrics.GroupDefault}, {"output_tokens_per_joule", 902, metrics.GroupGPU},
	} {
		list = append(list, metrics.Metric{Tag: m.tag, Order: m.order, Group: m.group})
	}
	_, rest := summary.OrderedBlocks(list)
	var got []string
	for _, m := range rest {
		got = append(got, m.Tag)
	}
	want := []string{"image_latency", "usage_total_tokens", "total_gpu_power", "total_gpu_energy",
		"output_tokens_per_joule",
		"energy_per_user", "nvidia_energy_delay_product", "nvidia_total_gpu_power", "amd_total_gpu_energy"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
