package resolve

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/recipe"
)

func TestTrapModelOnly(t *testing.T) {
	run, warnings := mustResolve(t, "--model Qwen/Qwen3-0.6B")
	p := run.Profiling()
	if *p.Requests != 10 || *p.Concurrency != 1 || p.Mode != config.Burst {
		t.Errorf("got %d requests, concurrency %d, mode %s", *p.Requests, *p.Concurrency, p.Mode)
	}
	if want := filepath.FromSlash("artifacts/Qwen_Qwen3-0.6B-openai-chat-concurrency1"); run.Artifacts.Dir != want {
		t.Errorf("directory %s, want %s", run.Artifacts.Dir, want)
	}
	configtest.WantText(t, "warnings", configtest.Texting(warnings), "WARNING no stop condition", "--concurrency 1",
		"--request-count 10")
	if run.Tokenizer.Name != "Qwen/Qwen3-0.6B" || run.Tokenizer.Given {
		t.Errorf("tokenizer %+v, want the model's own", run.Tokenizer)
	}
}

func TestTrapRateModeIgnoresTwiceConcurrency(t *testing.T) {
	run, _ := mustResolve(t, "--model a/b,c --concurrency 5 --request-rate 10")
	if want := filepath.FromSlash(
		"artifacts/a_b_multi-openai-chat-concurrency5-request_rate10.0"); run.Artifacts.Dir != want {
		t.Errorf("directory %s, want %s", run.Artifacts.Dir, want)
	}
	if n := *run.Profiling().Requests; n != 10 {
		t.Errorf("%d requests, want 10", n)
	}
}

func TestTrapDefaultRequestCounts(t *testing.T) {
	for _, c := range []struct {
		line string
		want int64
	}{
		{"--concurrency 4", 10}, {"--concurrency 8", 16}, {"--concurrency 3", 10}, {"--concurrency 20", 40},
		{"--prefill-concurrency 8 --streaming", 16}, {"--request-rate 100", 10},
		{"--concurrency 20 --request-rate 5", 20},
	} {
		run, _ := mustResolve(t, "-m m "+c.line)
		if got := *run.Profiling().Requests; got != c.want {
			t.Errorf("%s: %d requests, want %d", c.line, got, c.want)
		}
	}
	run, _ := mustResolve(t, "-m m --prefill-concurrency 8 --streaming")
	if run.Profiling().Concurrency != nil {
		t.Errorf("prefill only: concurrency %d, want unlimited", *run.Profiling().Concurrency)
	}
	if want := filepath.FromSlash("artifacts/m-openai-chat-prefill_concurrency8"); run.Artifacts.Dir != want {
		t.Errorf("directory %s, want %s", run.Artifacts.Dir, want)
	}
}

func TestTrapConcurrencyBeyondTheCountIsAWarning(t *testing.T) {
	for line, want := range map[string]string{
		"--concurrency 20 --request-rate 5 --request-count 10": "--concurrency 20 has no effect beyond 10, which is " +
			"--request-count",
		"--concurrency 5 --request-count 1": "--concurrency 5 has no effect beyond 1, which is --request-count",
		"--num-sessions 5 --concurrency 6":  "--concurrency 6 has no effect beyond 5, which is --num-sessions",
	} {
		if d := check(t, "-m m "+line); len(d.faults) > 0 || !warns(d, want) {
			t.Errorf("%s: %v, %v", line, d.faults, d.warnings)
		}
	}
}

// TestOptionsThatLackWhatTheyNeedAreAccepted takes command lines that say more than has an effect.
func TestOptionsThatLackWhatTheyNeedAreAccepted(t *testing.T) {
	for line, want := range map[string]string{
		"--user-context-prompt-length 30": "--user-context-prompt-length: each of the " +
			"100 conversations",
		"--prefix-prompt-length 5": "--prefix-prompt-length has no effect " +
			"without --num-prefix-prompts",
		"--output-tokens-stddev 2": "--output-tokens-stddev has no effect " +
			"without --osl",
		"--audio-length-stddev 2": "--audio-length-stddev has no effect without " +
			"--audio-length-mean",
		"--image-width-stddev 2 --image-height-mean 9": "--image-width-stddev has no effect without " +
			"--image-width-mean",
		"--probe-early-stop --probe-confidence 0.9": "no effect without a search: --probe-early-stop, --probe-confidence",
		"--sweep-type grid --parameter-sweep-mode repeated": "no effect without a sweep: " +
			"--parameter-sweep-mode, --sweep-type",
		"--resume --fail-on-partial": "no effect without a sweep, a search or --num-profile-runs: " +
			"--resume, --fail-on-partial",
		"--num-profile-runs 2 --pareto-objectives a": "no effect without a sweep or a search: --pareto-objectives",
		"--num-profile-runs 1 --confidence-level 0.95": "no effect without --num-profile-runs: " +
			"--confidence-level",
		"--no-vary-seed-per-trial": "no effect without --num-profile-runs: " +
			"--no-vary-seed-per-trial",
		"--convergence-mode cv": "no effect without --convergence-metric: " +
			"--convergence-mode",
		"--num-profile-runs 3 --convergence-stat p99": "no effect without --convergence-metric: " +
			"--convergence-stat",
		"--convergence-mode distribution --export-level summary": "no effect without --convergence-metric: " +
			"--convergence-mode",
		"--num-profile-runs 2 --convergence-threshold 0.2 --isl 1_000": "no effect without --convergence-metric: " +
			"--convergence-threshold",
	} {
		if d := check(t, "-m m "+line); len(d.faults) > 0 || !warns(d, want) {
			t.Errorf("%s: %v, %v", line, d.faults, d.warnings)
		}
	}
}

func TestInfiniteRate(t *testing.T) {
	for line, want := range map[string]struct{ concurrency, requests int }{
		"--request-rate inf":                   {0, 10}, // the defaults of a rate
		"--request-rate Infinity":              {0, 10},
		"--request-rate inf --concurrency 20":  {20, 20},
		"--request-rate inf --request-count 3": {0, 3},
	} {
		run, _ := mustResolve(t, "-m m --num-warmup-sessions 2 "+line)
		for _, p := range run.Phases {
			if !p.AtOnce() || p.PlannedRate() != 0 || p.Pattern != config.PatternPoisson {
				t.Errorf("%s, %s: at once %v, planned rate %v, pattern %s", line, p.Name, p.AtOnce(), p.PlannedRate(),
					p.Pattern)
			}
		}
		p := run.Profiling()
		if got := intOr0(p.Requests); got != want.requests {
			t.Errorf("%s: %d requests, want %d", line, got, want.requests)
		}
		if got := p.Concurrency; (got == nil) != (want.concurrency == 0) || got != nil && *got != want.concurrency {
			t.Errorf("%s: concurrency %v, want %d", line, got, want.concurrency)
		}
	}
	run, _ := mustResolve(t, "-m m --request-rate 5")
	if p := run.Profiling(); p.AtOnce() || p.PlannedRate() != 5 {
		t.Errorf("5 requests/s: at once %v, planned rate %v", p.AtOnce(), p.PlannedRate())
	}
	if d := check(t, "-m m --request-rate inf --request-rate-ramp-duration 5"); !warns(d,
		"--request-rate-ramp-duration has no effect with --request-rate inf") {
		t.Error("a ramp to an infinite rate is not warned of")
	}
}

func warns(r *resolution, part string) bool {
	return slices.ContainsFunc(r.warnings, func(w fault.Warning) bool { return strings.Contains(w.Text, part) })
}

func TestTrapDurationAndGrace(t *testing.T) {
	run, _ := mustResolve(t, "-m m --request-rate 5 --benchmark-duration 60")
	if p := run.Profiling(); p.Requests != nil || p.Grace != 30*time.Second || *p.Duration != time.Minute {
		t.Errorf("got requests %v, grace %v, duration %v", p.Requests, p.Grace, *p.Duration)
	}
	d := check(t, "-m m --user-centric-rate 1 --num-users 15 --session-turns-mean 3 --benchmark-duration 60")
	if len(d.faults) > 0 {
		t.Fatal(d.faults)
	}
	if grace := d.timing.profiling().Grace; grace != config.Unlimited {
		t.Errorf("user-centric grace %v, want unlimited", grace)
	}
	if got := d.outputs.stimulus(); got != "user_centric-users15-qps1.0" {
		t.Errorf("suffix %s", got)
	}
	run, _ = mustResolve(t, "-m m --benchmark-duration 60 --benchmark-grace-period inf")
	if grace := run.Profiling().Grace; grace != config.Unlimited {
		t.Errorf("grace inf: %v", grace)
	}
}

func TestTrapGraceWithoutDurationFailsEvenAtItsDefault(t *testing.T) {
	faults := resolveError(t, "-m m --benchmark-grace-period 30 --request-count 5")
	if !faults.Has("V22") {
		t.Errorf("%v, want V22", faults)
	}
}

func TestTrapSmoothness(t *testing.T) {
	run, warnings := mustResolve(t, "-m m --arrival-smoothness 2 --request-rate 5")
	if p := run.Profiling(); p.Pattern != config.PatternGamma || p.Smoothness != 2 {
		t.Errorf("pattern %s, smoothness %v", p.Pattern, p.Smoothness)
	}
	configtest.WantText(t, "warnings", configtest.Texting(warnings), "INFO --arrival-smoothness is given")
	for _, line := range []string{"--arrival-smoothness 2",
		"--arrival-pattern poisson --arrival-smoothness 2 --request-rate 5"} {
		if faults := resolveError(t, "-m m "+line); !faults.Has("V21") {
			t.Errorf("%s: %v, want V21", line, faults)
		}
	}
	run, _ = mustResolve(t, "-m m --arrival-pattern gamma --request-rate 5")
	if s := run.Profiling().Smoothness; s != 1 {
		t.Errorf("gamma without smoothness: %v, want 1", s)
	}
}

// A run ends with the first of its limits.
func TestTrapCountAndSessionsBothLimit(t *testing.T) {
	run, _ := mustResolve(t, "-m m --conversation-num 5 --request-count 7")
	p := run.Profiling()
	if p.Sessions == nil || *p.Sessions != 5 || p.Requests == nil || *p.Requests != 7 {
		t.Errorf("sessions %v, requests %v", p.Sessions, p.Requests)
	}
	for args, says := range map[string]string{
		"-m m --concurrency 6 --num-sessions 5 --request-count 9": "beyond 5, which is --num-sessions",
		"-m m --concurrency 6 --num-sessions 9 --request-count 5": "beyond 5, which is --request-count",
	} {
		if d := check(t, args); !strings.Contains(configtest.Texting(d.warnings), says) {
			t.Errorf("%s: %q", args, configtest.Texting(d.warnings))
		}
	}
}

func TestTrapConcurrencyLists(t *testing.T) {
	d := check(t, "-m m --concurrency 10,20,30 --request-count 100")
	if len(d.faults) > 0 {
		t.Fatal(d.faults)
	}
	if got := d.outputs.stimulus(); got != "concurrency_sweep_10_20_30" {
		t.Errorf("suffix %s", got)
	}
	for line, want := range map[string]string{
		"--concurrency 10,": "empty item", "--concurrency 10,10": "--num-profile-runs",
		"--concurrency 10,x": "x in the list",
		"--concurrency 10,0": "0 in the list",
	} {
		faults := parseError(t, "-m m "+line)
		if !faults.Has("V38") {
			t.Errorf("%s: %v, want V38", line, faults)
		}
		configtest.WantText(t, line, faults.Error(), want)
	}
	if d := check(t, "-m m --concurrency 10,20,200 --request-count 100"); !warns(d, "200 has no effect beyond 100") {
		t.Errorf("%v, want a warning for every value", d.warnings)
	}
	if d := check(t, "-m m --concurrency 10,20,200"); len(d.faults) > 0 {
		t.Errorf("derived counts: %v", d.faults)
	}
}

func TestTrapExtraInputs(t *testing.T) {
	run, _ := mustResolve(t,
		`-m m --extra-inputs temperature:0.7,top_p:1 ignore_eos:true --extra-inputs '{"seed":7}' lr:1e-3 a:b:c`)
	want := artifact.Object{{Key: "temperature", Value: 0.7}, {Key: "top_p", Value: int64(1)}, {Key: "ignore_eos",
		Value: true},
		{Key: "seed", Value: int64(7)}, {Key: "lr", Value: "1e-3"}, {Key: "a", Value: "b:c"}}
	configtest.WantObject(t, run.Endpoint.Extra, want)
}

func TestTrapEmptyTelemetryListIsGiven(t *testing.T) {
	p := mustParse(t, "-m m --gpu-telemetry --streaming")
	if !p.GPUTelemetry.Given() || len(p.GPUTelemetry.Get()) != 0 || !p.Streaming.Get() {
		t.Error("an empty list must count as given")
	}
	if mustParse(t, "-m m").GPUTelemetry.Given() {
		t.Error("an absent flag must not count as given")
	}
}

func TestTrapPrefixes(t *testing.T) {
	for _, c := range []struct{ prefix, csv, raw, records string }{
		{"run_raw.jsonl", "run.csv", "run_raw.jsonl", "run.jsonl"},
		{"/some/dir/foo", "foo.csv", "foo_raw.jsonl", "foo.jsonl"},
		{"/data/x/foo.json", "foo.csv", "foo_raw.jsonl", "foo.jsonl"},
		{"sub/foo", "sub/foo.csv", "sub/foo_raw.jsonl", "sub/foo.jsonl"},
	} {
		run, _ := mustResolve(t, "-m m --artifact-dir out --profile-export-file "+c.prefix)
		a := run.Artifacts
		for kind, want := range map[config.Artifact]string{config.SummaryCSV: c.csv, config.RawJSONL: c.raw,
			config.RecordsJSONL: c.records,
			config.InputsJSON:   "inputs.json", config.LogFile: "logs/aiperf.log"} {
			if got := a.Path(kind); got != filepath.Join("out", filepath.FromSlash(want)) {
				t.Errorf("prefix %s: %s, want out/%s", c.prefix, got, want)
			}
		}
	}
	for value, want := range map[string]string{
		"run.csv.json": "run.csv", "foo_raw.json": "foo_raw", "foo.txt": "foo", "foo.v2": "foo.v2",
		"llama-3.1-8B": "llama-3.1-8B",
		"myrun":        "myrun", "x_server_metrics.parquet": "x", "x_timeslices.csv": "x", "x_console.txt": "x",
		"dir/x.csv": "dir/x", ".json": ".json",
	} {
		if got := config.PrefixStem(value); got != want {
			t.Errorf("PrefixStem(%s) = %s, want %s", value, got, want)
		}
	}
}

// A prefix takes the place of the whole usual stem; what is no export keeps its name. Both flags are one option.
func TestTrapPrefixNamesEveryExport(t *testing.T) {
	want := map[config.Artifact]string{
		config.SummaryJSON: "myrun.json", config.SummaryCSV: "myrun.csv", config.RecordsJSONL: "myrun.jsonl",
		config.RawJSONL:       "myrun_raw.jsonl",
		config.TimeslicesJSON: "myrun_timeslices.json", config.TimeslicesCSV: "myrun_timeslices.csv",
		config.ConsoleText:       "myrun_console.txt",
		config.ServerMetricsJSON: "myrun_server_metrics.json", config.GPUTelemetryJSONL: "myrun_gpu_telemetry.jsonl",
		config.InputsJSON: "inputs.json", config.LogFile: "logs/aiperf.log",
	}
	for _, flag := range []string{"--profile-export-prefix", "--profile-export-file"} {
		run, _ := mustResolve(t, "-m m --artifact-dir out "+flag+" myrun")
		for kind, name := range want {
			if got := run.Artifacts.Path(kind); got != filepath.Join("out", filepath.FromSlash(name)) {
				t.Errorf("%s: %s, want out/%s", flag, got, name)
			}
		}
	}
	_, err := settings.Parse(configtest.Words("-m m --profile-export-prefix a --profile-export-file b"),
		configtest.Environ())
	if err == nil {
		t.Fatal("two values of one option are accepted")
	}
	configtest.WantText(t, "both names", err.Error(), "the same option, given twice")
}

func TestTrapRecordedCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"--model m/x --streaming --request-rate 5 --concurrency 5,10 --random-seed 007 --osl 1.50 --url " +
			"localhost:8000": "aiperf profile --model 'm/x' --streaming --request-rate 5 --concurrency '5,10' " +
			"--random-seed '007' --osl 1.5 --url 'localhost:8000'",
		"--model file -m pro":                    "aiperf profile --model 'file' -m 'pro'",
		"--api-key sk-1":                         "aiperf profile --api-key '<redacted>'",
		"--api-key=sk-1 --streaming":             "aiperf profile --api-key='<redacted>' --streaming",
		"--api_key sk-1":                         "aiperf profile --api_key '<redacted>'",
		"-H Authorization:abc X-A:b":             "aiperf profile -H '<redacted>' 'X-A:b'",
		"--header=x-api-key:abc authorization:d": "aiperf profile --header='<redacted>' '<redacted>'",
		"-H A:1,Authorization:x":                 "aiperf profile -H '<redacted>'",
		"--url-header '0=Authorization: Bearer abc' --url-header 1=X-A:b": "aiperf profile --url-header " +
			"'0=Authorization: <redacted>' --url-header '1=X-A:b'",
		"--url-header=http://u:p@h=X-A:b --url-header nonsense": "aiperf profile --url-header='http://<redacted>@h=X-A: b' " +
			"--url-header '<redacted>'",
		"--extra-inputs api_key:abc,t:1 max_tokens:5": "aiperf profile --extra-inputs 'api_key:<redacted>,t:1' " +
			"'max_tokens:5'",
		"--extra-inputs a:b,password:abc":            "aiperf profile --extra-inputs 'a:b,password:<redacted>'",
		`--extra-inputs {"x":{"token":"abc"}}`:       "aiperf profile --extra-inputs '<redacted>'",
		"--url http://u:p@h:1/v1 u:p@h2":             "aiperf profile --url 'http://<redacted>@h:1/v1' '<redacted>@h2'",
		"--url=u:p@h --isl 5":                        "aiperf profile --url='<redacted>@h' --isl 5",
		"--model true --tokenizer none --goodput .9": "aiperf profile --model True --tokenizer None --goodput 0.9",
	} {
		if got := settings.CommandLine("profile", configtest.Words(line)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", line, got, want)
		}
	}
	if got, want := settings.CommandLine("profile", []string{"--system-prompt", "it's"}),
		`aiperf profile --system-prompt 'it'\''s'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := settings.CommandLine("profile", []string{"--system-prompt=a b"}),
		`aiperf profile --system-prompt='a b'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTrapStreamingForcedOff(t *testing.T) {
	d := check(t, "-m m --streaming --endpoint-type embeddings")
	if len(d.faults) > 0 || d.endpoint.streaming {
		t.Errorf("faults %v, streaming %v", d.faults, d.endpoint.streaming)
	}
	configtest.WantText(t, "warnings", configtest.Texting(d.warnings),
		"WARNING Streaming is not supported for --endpoint-type embeddings, setting streaming to False")
	endpoint, _ := file.Exported(d.run()).Get("endpoint")
	if streaming, ok := endpoint.(artifact.Object).Get("streaming"); !ok || streaming != false {
		t.Errorf("exported streaming %v", streaming)
	}
	if faults := resolveError(t, "-m m --prefill-concurrency 2 --streaming --endpoint-type embeddings"); !faults.Has(
		"V13") {
		t.Errorf("%v, want V13", faults)
	}
}

func TestTrapTraceTurnsScheduleOn(t *testing.T) {
	file := configtest.WriteFile(t, "trace.jsonl",
		"not json\n\n{\"timestamp\":0,\"input_length\":5}\n{\"timestamp\":7}\n   "+
			"\n{\"timestamp\":9}\n{\"timestamp\":10}\n")
	line := "-m m --custom-dataset-type mooncake_trace --input-file " + file
	d := check(t, line+" --concurrency 4")
	if len(d.faults) > 0 {
		t.Fatal(d.faults)
	}
	if d.timing.mode != config.FixedSchedule || *d.timing.requests != 5 || *d.timing.concurrency != 4 ||
		d.outputs.stimulus() != "fixed_schedule" {
		t.Errorf("mode %s, requests %d, concurrency %d, suffix %s", d.timing.mode, *d.timing.requests,
			*d.timing.concurrency, d.outputs.stimulus())
	}
	if d := check(t, line+" --concurrency 6"); !warns(d, "6 has no effect beyond 5") {
		t.Errorf("%v, want a warning about the number of rows", d.warnings)
	}
	if d := check(t, line+" --no-fixed-schedule"); d.timing.mode != config.Burst {
		t.Errorf("--no-fixed-schedule: mode %s", d.timing.mode)
	}
	if d := check(t, line+" --request-rate 5"); len(d.faults) != 1 {
		t.Errorf("%v, want one fault that names --no-fixed-schedule", d.faults)
	} else {
		configtest.WantText(t, "fault", d.faults.Error(), "--request-rate", "--no-fixed-schedule")
	}
	if d := check(t, line+" --fixed-schedule-start-offset 5"); len(d.faults) > 0 {
		t.Errorf("an offset is fine where the schedule is on by itself: %v", d.faults)
	}
	if d := check(t, line+" --dataset-sampling-strategy random"); !d.faults.Has("V26") {
		t.Errorf("%v, want V26", d.faults)
	}
	if d := check(t, line+" --no-fixed-schedule --dataset-sampling-strategy random"); len(d.faults) > 0 {
		t.Errorf("a trace without a schedule is sampled in any order: %v", d.faults)
	}
	for first, what := range map[string]string{`{"timestamp":null}`: "a null timestamp",
		`{"input_length":5}`: "a first line without timestamp"} {
		untimed := configtest.WriteFile(t, "untimed.jsonl", first+"\n{\"timestamp\":7}\n")
		if d := check(t,
			"-m m --custom-dataset-type mooncake_trace --input-file "+untimed); d.timing.mode != config.Burst {
			t.Errorf("%s turned the schedule on", what)
		}
	}
}

func TestTrapVerbosity(t *testing.T) {
	run, _ := mustResolve(t, "-m m -v")
	if run.LogLevel != "DEBUG" || run.UI.Pick(true, false) != "simple" || run.UI.Pick(false, false) != "none" {
		t.Errorf("-v: %s, %s, %s", run.LogLevel, run.UI.Pick(true, false), run.UI.Pick(false, false))
	}
	run, _ = mustResolve(t, "-m m -v -vv --log-level error")
	if run.LogLevel != "TRACE" {
		t.Errorf("-vv: %s", run.LogLevel)
	}
	run, _ = mustResolve(t, "-m m -v --ui dashboard")
	if run.UI.Pick(false, true) != "dashboard" {
		t.Errorf("--ui dashboard: %s", run.UI.Pick(false, true))
	}
	run, _ = mustResolve(t, "-m m")
	if run.UI.Pick(true, false) != "dashboard" || run.UI.Pick(true, true) != "simple" ||
		run.UI.Pick(false, false) != "none" {
		t.Error("the default is the dashboard on a terminal, simple for several runs, else none")
	}
	run, _ = mustResolve(t, "-m m --ui simple")
	if run.UI.Pick(false, false) != "simple" {
		t.Error("an explicit mode always wins")
	}
}

func TestTrapWarmup(t *testing.T) {
	run, _ := mustResolve(t, "-m m --warmup-request-count 5 --request-rate 10 --concurrency 4")
	w := run.Warmup()
	if w == nil || w.Mode != config.Rate || w.Rate != 10 || *w.Concurrency != 4 || *w.Requests != 5 ||
		w.Pattern != config.PatternPoisson || w.Grace != config.Unlimited {
		t.Fatalf("warm-up %+v", w)
	}
	if run.Phases[0].Kind != config.WarmupPhase || run.Phases[1].Kind != config.ProfilingPhase {
		t.Error("the warm-up must come first")
	}
	file := configtest.WriteFile(t, "trace.jsonl", "{\"timestamp\":0}\n")
	for line, want := range map[string]int{"": 1, " --concurrency 1 --warmup-concurrency 3": 3} {
		d := check(t, "-m m --fixed-schedule --warmup-request-count 5 --input-file "+file+line)
		if w := d.timing.warmup(); w.Mode != config.Burst || *w.Concurrency != want {
			t.Errorf("fixed schedule%s: warm-up %+v", line, w)
		}
	}
	d := check(t, "-m m --user-centric-rate 2 --num-users 4 --session-turns-mean 2 --warmup-request-count 8 "+
		"--request-count 8")
	if w := d.timing.warmup(); w.Mode != config.Burst || *w.Concurrency != 1 {
		t.Errorf("user-centric: warm-up %+v", w)
	}
	run, warnings := mustResolve(t, "-m m --warmup-concurrency 4")
	if run.Warmup() != nil {
		t.Error("--warmup-concurrency alone makes no warm-up")
	}
	configtest.WantText(t, "warnings", configtest.Texting(warnings), "no warm-up: --warmup-concurrency")
	run, _ = mustResolve(t, "-m m --concurrency 4 --warmup-request-count 5 --warmup-request-rate 3")
	if w := run.Warmup(); w.Mode != config.Rate || w.Rate != 3 || w.Pattern != config.PatternPoisson {
		t.Errorf("own rate under a burst: %+v", w)
	}
	run, _ = mustResolve(t, "-m m --request-rate 4 --arrival-smoothness 3 --warmup-duration 5 --warmup-grace-period "+
		"2 --request-cancellation-rate 10")
	if w := run.Warmup(); w.Pattern != config.PatternGamma || w.Smoothness != 3 || w.Grace != 2*time.Second ||
		w.Cancellation != nil {
		t.Errorf("inherited: %+v", w)
	}
}

func TestTrapSequenceDistribution(t *testing.T) {
	run, _ := mustResolve(t, "-m m --seq-dist 128,64:25;512,128:75")
	if got := run.Dataset.SequenceDistribution; len(got) != 2 ||
		got[1] != (recipe.LengthPair{ISL: recipe.Normal{Mean: 512}, OSL: recipe.Normal{Mean: 128}, Percent: 75}) {
		t.Errorf("got %v", got)
	}
	faults := resolveError(t, "-m m --sequence-distribution 128,64:0.25;512,128:0.75")
	configtest.WantText(t, "fractions", faults.Error(), "--sequence-distribution", "sum to 100, not 1.0")
}

func TestTrapGoodput(t *testing.T) {
	if faults := resolveError(t, "-m m --goodput goodput:1"); !faults.Has("V9") {
		t.Errorf("%v, want V9", faults)
	}
	run, _ := mustResolve(t, "-m m --goodput 'request_latency:250 inter_token_latency:10 request_latency:300'")
	want := []config.SLO{{Tag: "request_latency", Value: 300}, {Tag: "inter_token_latency", Value: 10}}
	if len(run.SLOs) != 2 || run.SLOs[0] != want[0] || run.SLOs[1] != want[1] {
		t.Errorf("got %v, want %v", run.SLOs, want)
	}
	faults := resolveError(t, "-m m --goodput request_latenci:1")
	configtest.WantText(t, "unknown tag", faults.Error(), "did you mean request_latency?")
}

func TestTrapServerMetricsURLs(t *testing.T) {
	got, err := parse.ServerMetricsURLs([]string{"n1:8081", "http://n2/x/", "http://n3/metrics"})
	if err != nil || len(got) != 3 || got[0] != "http://n1:8081/metrics" || got[1] != "http://n2/x/metrics" ||
		got[2] != "http://n3/metrics" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parse.ServerMetricsURLs([]string{"nonsense"}); err == nil {
		t.Error("an item that is no URL must be refused")
	}
}

func TestTrapSeedZeroIsASeed(t *testing.T) {
	run, _ := mustResolve(t, "-m m --random-seed 0")
	if run.RandomSeed == nil || *run.RandomSeed != 0 {
		t.Errorf("seed %v", run.RandomSeed)
	}
	run, _ = mustResolve(t, "-m m")
	if run.RandomSeed != nil {
		t.Error("no seed was given")
	}
}

func TestTrapWorkerCount(t *testing.T) {
	p := mustParse(t, "-m m --concurrency 100")
	for cpus, want := range map[int]int{1: 1, 2: 1, 8: 5, 16: 11, 64: 32} {
		run, _, err := Resolve(p, fakeCatalog{})
		if err != nil {
			t.Fatal(err)
		}
		if got := run.LogicalWorkers(cpus); got != want {
			t.Errorf("%d CPUs: %d workers, want %d", cpus, got, want)
		}
	}
	run, _ := mustResolve(t, "-m m --concurrency 4")
	if got := run.LogicalWorkers(16); got != 4 {
		t.Errorf("capped by the concurrency: %d, want 4", got)
	}
	parsed := mustParse(t, "-m m --concurrency 100 --workers-max 32", "AIPERF_WORKER_MAX_WORKERS_CAP=16")
	run, _, err := Resolve(parsed, fakeCatalog{})
	if err != nil || run.LogicalWorkers(16) != 32 {
		t.Errorf("a flag wins over the cap: %v, %v", run, err)
	}
}

func intOr0(v *int64) int {
	if v == nil {
		return 0
	}
	return int(*v)
}
