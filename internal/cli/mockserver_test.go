package cli

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/cli/mock"
	"aiperf/internal/mockserver"
)

// parseMockServer reads arguments of the mock server over an environment, which may be nil.
func parseMockServer(args []string, env func(string) (string, bool)) (mockserver.Options, error) {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	var o mock.Options
	err := o.Parse(args, env)
	return o.Options, err
}

func TestMockServerDefaults(t *testing.T) {
	got, err := parseMockServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := mockserver.Options{Host: "127.0.0.1", Port: 8000, TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond,
		MaxQueue: -1, SpecAcceptance: 0.7, SpecStats: "choice",
		EmbeddingBase: 10 * time.Millisecond, EmbeddingPerInput: 2 * time.Millisecond,
		RankingBase: 10 * time.Millisecond, RankingPerPassage: time.Millisecond,
		ImageInferBase: 10 * time.Millisecond, ImageInferPer: 5 * time.Millisecond,
		ImageLatency: 50 * time.Millisecond, VideoLatency: 200 * time.Millisecond,
		Models: []string{"mock-model"}, AuthHeader: "Authorization", Backend: "vllm",
		GPU: mockserver.GPUOptions{Model: "h200", Count: 2, Hostname: "localhost", MinThroughput: 100,
			Window: time.Second},
		Scheduler: mockserver.SchedulerOptions{Step: 5 * time.Millisecond, MaxBatch: 256, PrefillChunk: 512,
			PrefillChunks: 8, Threshold: 1.5, Slope: 0.5, Floor: 0.3}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(mockserver.Options{})); diff != "" {
		t.Error(diff)
	}
}

// The names of the original for the same, and the negations of switches.
func TestMockServerOptionsOfTheOriginal(t *testing.T) {
	env := map[string]string{"MOCK_SERVER_SCHEDULER_GOODPUT_COLLAPSE_SLOPE": "0.25", "MOCK_SERVER_FAST": "true"}
	got, err := parseMockServer([]string{"--default-model", "m", "--ttft-per-isl-token-ms", "0.5",
		"--ttft-concurrency-quad-ms", "1", "--itl-per-osl-token-ms", "0.25", "--itl-concurrency-lin-ms", "2",
		"--scheduler-goodput-collapse-enabled", "--scheduler-goodput-collapse-threshold", "2",
		"--scheduler-goodput-collapse-floor", "0.5", "--no-fast", "--access-logs", "--no-access-logs"},
		func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseMockServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want.Models, want.TTFTPerInputToken = []string{"m"}, 500*time.Microsecond
	want.TTFTPerSquare, want.ITLPerRequest = time.Millisecond, 2*time.Millisecond
	want.ITLPerOutputToken = 250 * time.Microsecond
	want.Scheduler.Collapse, want.Scheduler.Threshold = true, 2
	want.Scheduler.Slope, want.Scheduler.Floor = 0.25, 0.5
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(mockserver.Options{})); diff != "" {
		t.Error(diff)
	}
}

func TestMockServerFlagsOverEnvironment(t *testing.T) {
	env := map[string]string{"MOCK_SERVER_TTFT": "1.5", "MOCK_SERVER_ITL": "2", "MOCK_SERVER_FAST": "true",
		"MOCK_SERVER_RANDOM_SEED": "9",
		"MOCK_SERVER_HOST":        ""}
	got, err := parseMockServer([]string{"-p", "0", "--itl=7", "-t3", "-fv", "-w", "2", "--fault", "never;rate=0.5",
		"--max-batch", "4", "--max-queue", "0",
		"--model", "a, b", "--backend", "triton", "--metrics-ports", "0, 9002", "--metrics-fault", "html;rate=0.5",
		"--metrics-series", "7", "--openmetrics",
		"--record-requests", "r", "--record-events", "--record-bodies=false", "--error-rate", "12.5",
		"--models-ready-delay-seconds", "1.5",
		"--dcgm-gpu-name", "a100", "--dcgm-num-gpus", "4", "--dcgm-hostname", "n1", "--dcgm-seed", "3", "--dcgm-load",
		"0.5,2:1", "--dcgm-fault", "nan;gpu_gone_after_s=2",
		"--scheduler-step-ms", "2.5", "--scheduler-max-batch-size=64"},
		func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	want := mockserver.Options{Host: "127.0.0.1", TTFT: 3 * time.Millisecond, ITL: 7 * time.Millisecond, Fast: true,
		Seed: 9, Workers: 2, SpecAcceptance: 0.7, SpecStats: "choice",
		EmbeddingBase: 10 * time.Millisecond, EmbeddingPerInput: 2 * time.Millisecond,
		RankingBase: 10 * time.Millisecond, RankingPerPassage: time.Millisecond,
		ImageInferBase: 10 * time.Millisecond, ImageInferPer: 5 * time.Millisecond,
		ImageLatency: 50 * time.Millisecond, VideoLatency: 200 * time.Millisecond,
		MaxBatch: 4, Models: []string{"a", "b"}, AuthHeader: "Authorization", Fault: "never;rate=0.5",
		RecordRequests: "r",
		RecordEvents:   true, ErrorRate: 12.5, ModelsReadyDelay: 1500 * time.Millisecond, LogLevel: slog.LevelDebug,
		Backend: "triton", MetricsPorts: []int{0, 9002}, MetricsFault: "html;rate=0.5", MetricsSeries: 7,
		OpenMetrics: true,
		GPU: mockserver.GPUOptions{Model: "a100", Count: 4, Hostname: "n1", Seed: 3,
			Load: &mockserver.LoadCurve{{Load: 0.5}, {Seconds: 2, Load: 1}}, MinThroughput: 100, Window: time.Second,
			Fault: "nan;gpu_gone_after_s=2"},
		Scheduler: mockserver.SchedulerOptions{Step: 2500 * time.Microsecond, MaxBatch: 64, PrefillChunk: 512,
			PrefillChunks: 8, Threshold: 1.5, Slope: 0.5, Floor: 0.3}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(mockserver.Options{})); diff != "" {
		t.Error(diff)
	}
}

func TestMockServerMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--prot 1":                     "did you mean --port?",
		"--zzzzzzzz":                   "unknown option --zzzzzzzz; see aiperf mock-server --help",
		"--port 70000":                 "--port: \"70000\" is not a whole number from 0 to 65535",
		"--port":                       "--port needs a value",
		"--workers 0":                  "from 1 to 32",
		"--workers 33":                 "from 1 to 32",
		"--ttft -1":                    "--ttft: ",
		"--ttft NaN":                   "--ttft: ",
		"--ttft 1e12":                  "--ttft: ",
		"--error-rate 101":             "from 0 to 100",
		"--fast=maybe":                 "neither true nor false",
		"--log-level LOUD":             "not a log level",
		"--fault bogus":                "unknown fault",
		"--metrics-fault bogus":        "unknown fault \"bogus\"; known are html",
		"--metrics-fault html=1":       "takes no value",
		"--metrics-fault labels":       "needs a value",
		"--metrics-fault status=200":   "from 300 to 599",
		"--backend vlm":                "vllm, sglang, trtllm, dynamo, triton",
		"--metrics-ports 1,x":          "from 0 to 65535",
		"--metrics-series -1":          "whole number",
		"--auth-header-name a:b":       "not the name of a header",
		"--random-seed -1":             "whole number",
		"--record-events":              "need --record-requests",
		"positional":                   "unexpected argument",
		"--dcgm-num-gpus 9":            "from 1 to 8",
		"--dcgm-gpu-name h900":         "\"h900\" is not a GPU: rtx6000, ",
		"--dcgm-load 2":                "--dcgm-load: ",
		"--dcgm-load 3:0.5,2:1":        "must ascend",
		"--dcgm-load ,":                "the curve is empty",
		"--dcgm-fault bogus":           "unknown fault",
		"--metrics-fault no_energy":    "unknown fault",
		"--scheduler-step-ms 0":        "--scheduler-step-ms: ",
		"--scheduler-max-batch-size 0": "--scheduler-max-batch-size: ",
	} {
		_, err := parseMockServer(strings.Fields(args), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", args, err)
		}
	}
	for name, value := range map[string]string{"MOCK_SERVER_PORT": "x", "MOCK_SERVER_DCGM_SEED": "-1"} {
		_, err := parseMockServer(nil, func(n string) (string, bool) { return value, n == name })
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
