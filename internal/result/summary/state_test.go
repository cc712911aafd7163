package summary_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
)

// blocks replaces the function of package report: it writes all that RestoreResult reads.
func blocks(results []metrics.Metric) artifact.Object {
	var out artifact.Object
	for _, m := range results {
		b := artifact.Object{{Key: "unit", Value: m.Unit}, {Key: "avg", Value: m.Stats.Avg}}
		if m.Distribution {
			for i, rank := range metrics.PercentileRanks {
				b = append(b, artifact.Member{Key: metrics.RankKey(rank), Value: m.Stats.Percentiles[i]})
			}
			for _, p := range m.Further {
				b = append(b, artifact.Member{Key: metrics.RankKey(p.Rank), Value: p.Value})
			}
			b = append(b, artifact.Member{Key: "min", Value: m.Stats.Min},
				artifact.Member{Key: "max", Value: m.Stats.Max},
				artifact.Member{Key: "std", Value: m.Stats.Std}, artifact.Member{Key: "count", Value: m.Stats.Count},
				artifact.Member{Key: "sum", Value: m.Stats.Sum})
		}
		out = append(out, artifact.Member{Key: m.Tag, Value: b})
	}
	return out
}

func TestStateIsReadBackAsItWas(t *testing.T) {
	seed, rtt := uint64(1)<<63, 1500*time.Microsecond
	config := metrics.DefaultConfig()
	config.SLOs = []metrics.SLO{{Tag: "request_latency", Value: 10}}
	latency, err := metrics.RestoreResult("request_latency",
		[]byte(`{"unit":"ms","avg":2.5,"p99":9,"p99.9":9.5,"min":1,"max":10,"std":1,"count":4,"sum":10}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &summary.State{
		Status: summary.StateFinished, UpdatedNS: 1 << 60, ExportLevel: "raw", Prefix: "p",
		Run: summary.Run{
			AIPerfVersion: "1", BenchmarkID: "b", EndpointTitle: "LLM <Metrics>", WasCancelled: true, Incomplete: "r",
			StartNS: 5,
			RunInfo: summary.RunInfo{RandomSeed: &seed, Trial: 2, RunLabel: "l", VariationLabel: "v", VariationIndex: 3,
				VariationValues: artifact.Object{{Key: "a", Value: "x"}}, CLICommand: "aiperf 'ü' <&>"},
			InputConfig: artifact.Object{{Key: "z", Value: "1"}, {Key: "a", Value: []any{true, nil}}},
			Provenance:  artifact.Object{{Key: "k", Value: "v"}},
			Submission:  &summary.Submission{Scenario: "s", Reasons: []string{"a"}},
			Branches: &summary.Branches{ChildrenSpawned: 3, JoinsSuppressed: 1, GraphsAdmitted: 2,
				GraphsCompleted: 1},
			Source: &summary.Source{Loader: "x", HubDataset: "o/n", HubSubset: "s", HubSplit: "train",
				Entries: 20},
			Counts: summary.Counts{Sent: 9, CutOff: 1, SkippedArrivals: 2, DroppedByCatchup: 3, TargetRate: 10.5,
				DeliveredRate: 1.0 / 3},
		},
		Config: config, Window: summary.Window{WindowStartNS: 1, WindowEndNS: 2, NetworkRTT: &rtt},
		Phases:        []summary.PhaseState{{Name: "profiling", Kind: "profiling", StartNS: 5, Sent: 9}},
		Warmup:        []metrics.Metric{latency},
		WarmupRecords: []json.RawMessage{[]byte(`{"metadata":{"a":1},"facts":{}}`), []byte(`{"facts":{"gaps":[1,2]}}`)},
		ClientHealth:  artifact.Object{{Key: "verdict", Value: "valid"}},
		GPU: &summary.GPUState{
			Telemetry: &gpu.Telemetry{
				Configured: []string{"http://h:9400/metrics"}, StartNS: 5, EndNS: 7, Platforms: []string{gpu.NVIDIA},
				Errors: []gpu.Failure{{Code: 500, Type: "t", Message: "m", Count: 2}},
				Endpoints: []gpu.Endpoint{{Name: "h:9400", GPUs: []gpu.DeviceMetrics{{Key: "gpu_0",
					Device: gpu.Device{Source: "s", Platform: gpu.NVIDIA, UUID: "u", Model: "M", PCIBusID: "p",
						Device: "nvidia0", Hostname: "h", Namespace: "n", Pod: "o", Instance: "3"},
					Metrics: []gpu.Metric{{
						Field: gpu.Field{Name: "energy_consumption", Display: "Energy Consumption", Unit: "MJ",
							Kind: gpu.Counter, Platform: gpu.NVIDIA},
						Stats: metrics.Stats{Avg: 1, Min: 2, Max: 3, Std: 4, Percentiles: metrics.Percentiles{5},
							Count: 6}}}}}}},
			},
			Efficiency: []gpu.Efficiency{{Tag: "t", Value: 1}}, Shown: true,
		},
		Console: summary.ConsoleState{ShowTrace: true, Groups: []string{"usage"}, Notes: []string{"n"},
			ServerMetrics: []servermetrics.Highlight{{Backend: "vllm", Endpoint: "h:8000", Metric: "m", Stat: "avg",
				Unit: "s", Value: 0.5}, {Backend: "vllm", Value: math.NaN()}}},
	}
	text, err := want.Encode(blocks)
	if err != nil {
		t.Fatal(err)
	}
	got, err := summary.ParseState(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if names := regexp.MustCompile(`"[a-z0-9_]*[A-Z][A-Za-z_]*":`).FindAllString(string(text), -1); names != nil {
		t.Errorf("the file has members named %v", names)
	}
	if len(latency.Further) != 1 || latency.Stats.Percentiles[8] != 9 || !math.IsNaN(latency.Stats.Percentiles[0]) ||
		latency.Header != "Request Latency" {
		t.Errorf("the block is read as %+v", latency)
	}
}

// A server that says a figure is infinite must not cost the run its state.
func TestInfiniteFiguresOfServersAreNull(t *testing.T) {
	s := summary.State{Status: summary.StateFinished, Config: metrics.DefaultConfig(),
		Console: summary.ConsoleState{ServerMetrics: []servermetrics.Highlight{{Backend: "vllm", Value: math.Inf(1)}}}}
	text, err := s.Encode(blocks)
	if err != nil {
		t.Fatal(err)
	}
	got, err := summary.ParseState(text)
	if err != nil || len(got.Console.ServerMetrics) != 1 || !math.IsNaN(got.Console.ServerMetrics[0].Value) ||
		got.Console.ServerMetrics[0].Backend != "vllm" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStatesThatCannotBe(t *testing.T) {
	const good = `{"schema_version":"1.0","status":"running","metrics_config":{}}`
	if _, err := summary.ParseState([]byte(good)); err != nil {
		t.Fatal(err)
	}
	if _, err := summary.ParseState([]byte(strings.Replace(good, "1.0", "1.7", 1))); err != nil {
		t.Errorf("a later version of the same shape: %v", err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "unexpected end"},
		{"{}", "no schema_version"},
		{strings.Replace(good, "1.0", "2.0", 1), "schema_version 2.0, and this program reads 1.x"},
		{strings.Replace(good, "running", "asleep", 1), `status is "asleep"`},
		{strings.Replace(good, `,"metrics_config":{}`, "", 1), "no metrics_config"},
		{strings.Replace(good, "{}", `{"streaming":1}`, 1), "metrics_config"},
		{strings.Replace(good, "{}}", `{},"warmup_metrics":{"nothing":{"unit":"ms"}}}`, 1),
			"metric nothing is not known"},
		{strings.Replace(good, "{}}", `{},"input_config":[]}`, 1), "input_config"},
	} {
		if _, err := summary.ParseState([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"schema_version":"1.0","status":"running","metrics_config":{"slice_ns":1},"input_config":{},"warmup_metrics":{"request_latency":{"unit":"ms","avg":1,"p50":2}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := summary.ParseState(data)
		if err != nil {
			return
		}
		text, err := s.Encode(blocks)
		if err != nil {
			return // input_config may hold what cannot be written, such as numbers beyond all bounds
		}
		if _, err := summary.ParseState(text); err != nil {
			t.Errorf("%s cannot be read again: %v", text, err)
		}
	})
}
