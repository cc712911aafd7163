package resolve

import (
	"reflect"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/file"
	"aiperf/internal/load"
	"aiperf/internal/workload/recipe"
)

func TestResolvedRun(t *testing.T) {
	run, _ := mustResolve(t, "-m a,b --url h1:1 https://h2/v1/ --endpoint-type Completions --streaming --api-key k "+
		"-H A:1 --custom-endpoint /x "+
		"--isl 100 --isl-stddev 5 --osl 20 --num-prompts 7 --session-turns-mean 3 --session-turn-delay-mean 50.5 "+
		"--request-rate 5 --arrival-pattern constant "+
		"--request-cancellation-rate 10 --request-cancellation-delay 0.5 --concurrency 3 --request-count 30 "+
		"--tokenizer builtin --failed-request-threshold 0.1 --stats-interval 0 --artifact-dir out/")
	e := run.Endpoint
	if !reflect.DeepEqual(e.URLs, []string{"http://h1:1", "https://h2/v1/"}) || e.Type != "completions" ||
		!e.Streaming || e.APIKey != "k" ||
		e.TimeoutSeconds != 21600 || *e.CustomPath != "/x" || e.ConnectionReuse != "pooled" ||
		e.SessionHeader != "X-Correlation-ID" ||
		!reflect.DeepEqual(e.Headers, []config.Header{{Name: "A", Value: "1"}}) {
		t.Errorf("endpoint %+v", e)
	}
	d := run.Dataset
	if d.Kind != config.SyntheticDataset || d.ISL != (recipe.Normal{Mean: 100, Stddev: 5}) ||
		d.OSL != (recipe.Normal{Mean: 20, Stddev: 0}) || d.Entries != 7 ||
		d.Turns != (recipe.Normal{Mean: 3, Stddev: 0}) ||
		d.TurnDelayMS != (recipe.Normal{Mean: 50.5, Stddev: 0}) || d.TurnDelayRatio != 1 || d.Batches.Text != 1 {
		t.Errorf("dataset %+v", d)
	}
	p := run.Profiling()
	if p.Mode != config.Rate || p.Rate != 5 || p.Pattern != config.PatternConstant || p.Smoothness != 0 ||
		*p.Concurrency != 3 ||
		*p.Requests != 30 ||
		*p.Cancellation != (load.Cancellation{Percent: 10, Delay: 500 * time.Millisecond}) {
		t.Errorf("phase %+v", p)
	}
	if run.Tokenizer.Name != "builtin" || !run.Tokenizer.Given || *run.FailedRequestThreshold != 0.1 ||
		*run.UI.StatsInterval != 0 || run.Artifacts.Dir != "out" || run.ModelSelection != "round_robin" {
		t.Errorf("run %+v", run)
	}
}

func TestWarnings(t *testing.T) {
	for line, want := range map[string]string{
		"--osl 5": "WARNING --osl only limits",
		"--osl 5 --extra-inputs ignore_eos:false": "min_tokens:5",
		"--num-prefix-prompts 3":                  "--num-prefix-prompts has no effect",
		"--arrival-pattern constant":              "--arrival-pattern has no effect without --request-rate",
		"--tokenizer-trust-remote-code":           "--tokenizer-trust-remote-code has no effect",
	} {
		_, warnings := mustResolve(t, "-m m "+line)
		configtest.WantText(t, line, configtest.Texting(warnings), want)
	}
	for _, line := range []string{"--osl 5 --extra-inputs ignore_eos:true", "--osl 5 --extra-inputs min_tokens:5"} {
		_, warnings := mustResolve(t, "-m m --concurrency 1 --request-count 1 --tokenizer builtin "+line)
		if len(warnings) > 0 {
			t.Errorf("%s: %v", line, warnings)
		}
	}
}

func TestNonTextEndpointHasNoText(t *testing.T) {
	d := check(t, "-m m --endpoint-type image_retrieval")
	if data := d.dataset.build(); data.ISL != (recipe.Normal{}) || data.Batches.Text != 0 {
		t.Errorf("dataset %+v", data)
	}
	if tok := d.tokens.build(); tok.Name != "" {
		t.Errorf("tokenizer %+v", tok)
	}
}

func TestSystemPromptFile(t *testing.T) {
	file := configtest.WriteFile(t, "prompt.txt", "Be brief.\n")
	run, _ := mustResolve(t, "-m m --system-prompt-file "+file)
	if *run.Dataset.SystemPrompt != "Be brief.\n" {
		t.Errorf("got %q", *run.Dataset.SystemPrompt)
	}
}

func TestInputConfig(t *testing.T) {
	run, _ := mustResolve(t, "-m m --url http://u:p@h:1 --streaming --api-key sk-secret -H Authorization:abc X-A:b "+
		"--extra-inputs a:1 api_key:zz --isl 100 "+
		"--num-prompts 30 --concurrency 4 --warmup-request-count 2 --benchmark-duration 5 --goodput "+
		"request_latency:250 --random-seed 7 --tokenizer builtin --no-server-metrics --artifact-dir out")
	want := artifact.Object{
		{Key: "models", Value: artifact.Object{{Key: "items", Value: []any{artifact.Object{{Key: "name",
			Value: "m"}}}}}},
		{Key: "endpoint", Value: artifact.Object{
			{Key: "urls", Value: []any{"http://<redacted>@h:1"}}, {Key: "type", Value: "chat"},
			{Key: "api_key", Value: artifact.Redacted}, {Key: "streaming", Value: true},
			{Key: "headers", Value: artifact.Object{{Key: "Authorization", Value: artifact.Redacted}, {Key: "X-A",
				Value: "b"}}},
			{Key: "extra", Value: artifact.Object{{Key: "a", Value: int64(1)}, {Key: "api_key",
				Value: artifact.Redacted}}},
		}},
		{Key: "datasets", Value: []any{artifact.Object{{Key: "name", Value: "main"}, {Key: "type", Value: "synthetic"},
			{Key: "entries", Value: int64(30)},
			{Key: "random_seed", Value: int64(7)},
			{Key: "prompts", Value: artifact.Object{{Key: "isl", Value: artifact.Object{{Key: "mean",
				Value: 100.0}}}}}}}},
		{Key: "phases", Value: []any{
			artifact.Object{{Key: "name", Value: "warmup"}, {Key: "kind", Value: "warmup"}, {Key: "type",
				Value: "concurrency"},
				{Key: "exclude_from_results", Value: true},
				{Key: "requests", Value: int64(2)}, {Key: "concurrency", Value: int64(4)}},
			artifact.Object{{Key: "name", Value: "profiling"}, {Key: "kind", Value: "profiling"},
				{Key: "type", Value: "concurrency"}, {Key: "duration", Value: 5.0},
				{Key: "concurrency", Value: int64(4)}, {Key: "grace_period", Value: 30.0}},
		}},
		{Key: "artifacts", Value: artifact.Object{{Key: "dir", Value: "out"}}},
		{Key: "slos", Value: artifact.Object{{Key: "request_latency", Value: 250.0}}},
		{Key: "tokenizer", Value: artifact.Object{{Key: "name", Value: "builtin"}}},
		{Key: "server_metrics", Value: artifact.Object{{Key: "enabled", Value: false}}},
		{Key: "network_latency", Value: artifact.Object{{Key: "enabled", Value: false}}},
	}
	configtest.WantObject(t, file.Exported(run), want)
	if run.Endpoint.Extra[1].Value != "zz" {
		t.Error("redaction changed what is sent")
	}
}

func TestInputConfigDistributions(t *testing.T) {
	run, _ := mustResolve(t, "-m a,b --model-selection-strategy random --isl 100 --isl-stddev 5 --request-rate 5 "+
		"--arrival-smoothness 2 --benchmark-duration 9 --benchmark-grace-period inf --export-level raw --seq-dist "+
		"5,6|1:100")
	out := file.Exported(run)
	models, _ := out.Get("models")
	configtest.WantObject(t, models.(artifact.Object), artifact.Object{{Key: "strategy", Value: "random"},
		{Key: "items", Value: []any{artifact.Object{{Key: "name", Value: "a"}}, artifact.Object{{Key: "name",
			Value: "b"}}}}})
	datasets, _ := out.Get("datasets")
	prompts, _ := datasets.([]any)[0].(artifact.Object).Get("prompts")
	configtest.WantObject(t, prompts.(artifact.Object), artifact.Object{
		{Key: "isl", Value: artifact.Object{{Key: "mean", Value: 100.0}, {Key: "stddev", Value: 5.0}}},
		{Key: "sequence_distribution", Value: []any{artifact.Object{{Key: "isl", Value: artifact.Object{{Key: "mean",
			Value: 5.0}}},
			{Key: "osl", Value: artifact.Object{{Key: "mean", Value: 6.0}, {Key: "stddev", Value: 1.0}}},
			{Key: "probability", Value: 100.0}}}},
	})
	phases, _ := out.Get("phases")
	configtest.WantObject(t, phases.([]any)[0].(artifact.Object), artifact.Object{
		{Key: "name", Value: "profiling"}, {Key: "kind", Value: "profiling"}, {Key: "type", Value: "gamma"},
		{Key: "duration", Value: 9.0}, {Key: "rate", Value: 5.0}, {Key: "smoothness", Value: 2.0},
		{Key: "grace_period", Value: "inf"},
	})
	artifacts, _ := out.Get("artifacts")
	if raw, ok := artifacts.(artifact.Object).Get("raw"); !ok || raw != true {
		t.Errorf("artifacts %v", artifacts)
	}
}

func TestArtifactNamesWithoutPrefix(t *testing.T) {
	a := config.Artifacts{Dir: "d"}
	seen := map[string]bool{}
	for _, kind := range config.ArtifactKinds() {
		name := a.Name(kind)
		if name == "" || seen[name] {
			t.Errorf("kind %d: name %q", kind, name)
		}
		seen[name] = true
	}
	if a.Name(config.SummaryJSON) != "profile_export_aiperf.json" ||
		a.Name(config.RecordsJSONL) != "profile_export.jsonl" {
		t.Errorf("%s, %s", a.Name(config.SummaryJSON), a.Name(config.RecordsJSONL))
	}
}

func TestRampsAndUsersReachTheirPhases(t *testing.T) {
	run, _ := mustResolve(t, "-m m --request-rate 10 --concurrency 8 --request-rate-ramp-duration 3 "+
		"--concurrency-ramp-duration 4 --warmup-request-count 5 --warmup-request-rate-ramp-duration 1")
	p, w := run.Profiling(), run.Warmup()
	if p.RateRamp != 3*time.Second || p.ConcurrencyRamp != 4*time.Second || p.PrefillRamp != 0 {
		t.Errorf("profiling ramps %v %v %v", p.RateRamp, p.ConcurrencyRamp, p.PrefillRamp)
	}
	if w.RateRamp != time.Second || w.ConcurrencyRamp != 4*time.Second {
		t.Errorf("warm-up ramps %v %v", w.RateRamp, w.ConcurrencyRamp)
	}
	users, _ := mustResolve(t, "-m m --user-centric-rate 2 --num-users 4 --session-turns-mean 3 --benchmark-duration 9")
	u := users.Profiling()
	if u.Mode != config.UserCentric || u.Rate != 2 || u.Users != 4 || u.Grace != config.Unlimited {
		t.Errorf("users %+v", u)
	}
}
