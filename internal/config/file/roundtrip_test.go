package file_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/env"
	"aiperf/internal/config/file"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
)

// TestEveryOptionOfAFileMakesARoundTrip gives each option of the table of keys as a flag, writes the file of that run,
// and reads it: the run of the file is that of the flag.
func TestEveryOptionOfAFileMakesARoundTrip(t *testing.T) {
	data := configtest.WriteFile(t, "data.jsonl", `{"text":"hello"}`+"\n")
	trace := configtest.WriteFile(t, "trace.jsonl", `{"timestamp":0,"input_length":5,"output_length":5}`+"\n")
	dag := configtest.WriteFile(
		t,
		"dag.jsonl",
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}]}]}`+"\n",
	)
	replacer := strings.NewReplacer("DATA", data, "TRACE", trace, "DAG", dag, "BASETEN", trace)
	names := optionsOfKeys()
	if len(names) < 150 {
		t.Fatalf("%d options", len(names))
	}
	for _, name := range names {
		o, ok := option.Find("--" + name)
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if why := noRoundTrip[name]; why != "" {
				t.Skip(why)
			}
			needs := withCompanions(name)
			if slices.Contains(ofScenarios, name) {
				needs = "--scenario=inferencex-agentx-mvp --unsafe-override --random-seed 5 " +
					"--custom-dataset-type weka_trace --input-file TRACE"
			}
			args := configtest.Words(replacer.Replace("--model m " + needs))
			given := func(arg string) bool { return strings.HasPrefix(arg, "--"+name+"=") }
			if !slices.ContainsFunc(args, given) {
				args = append(args, sample(o, data))
			}
			parsed, err := settings.Parse(args, configtest.Environ())
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			want, _, err := resolve.Resolve(parsed, run.Catalog{})
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			tree, variables := file.FromRun(want)
			text := document.AppendYAML(nil, tree, 0)
			got, err := again(text, variables)
			if err != nil {
				t.Fatalf("%q: %v\nof:\n%s", args, err, text)
			}
			if diff := cmp.Diff(parts(t, want), parts(t, got)); diff != "" {
				t.Errorf("%q: (- flags, + file)\n%s\nof:\n%s", args, diff, text)
			}
			_, err = again(shown(t, text, variables), variables)
			if err != nil && !slices.Contains(hidden, name) {
				t.Errorf("%q: what config show prints is not valid: %v", args, err)
			}
			if a, b := want.Asked.Field(o).Value(), got.Asked.Field(o).Value(); !reflect.DeepEqual(a, b) {
				t.Errorf("%q: %#v by the flag, %#v by the file\n%s", args, a, b, text)
			}
		})
	}
}

// parts are the members of the exported configuration of a run. The order of a dataset is left out: files have one, and
// flags leave it to the format.
func parts(t *testing.T, r *config.Run) []string {
	t.Helper()
	return strings.Split(strings.ReplaceAll(exported(t, r), `,"sampling":"sequential"`, ""), ",")
}

// shown is the complete configuration of a file, as a file.
func shown(t *testing.T, text []byte, variables []string) []byte {
	t.Helper()
	source, err := file.Open("bench.yaml", text, samples(variables))
	if err != nil {
		t.Fatal(err)
	}
	_, tree, err := source.Settings(source.Raw, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return document.AppendYAML(nil, file.Complete(tree, nil), 0)
}

// samples is an environment whose variables have the value of every sample.
func samples(variables []string) env.Lookup {
	var environ []string
	for _, name := range variables {
		environ = append(environ, name+"="+word)
	}
	return configtest.Environ(environ...)
}

// again resolves a file that was written.
func again(text []byte, variables []string) (*config.Run, error) {
	source, err := file.Open("bench.yaml", text, samples(variables))
	if err != nil {
		return nil, err
	}
	p, _, err := source.Settings(source.Raw, file.Options{})
	if err != nil {
		return nil, err
	}
	r, _, err := resolve.Resolve(p, run.Catalog{})
	return r, err
}

// optionsOfKeys are the options of the table of keys, and those of means and deviations.
func optionsOfKeys() (names []string) {
	var walk func(k schema.Key)
	walk = func(k schema.Key) {
		for _, f := range k.Fields {
			if f.Option != nil && !slices.Contains(names, f.Option.Name) {
				names = append(names, f.Option.Name)
			}
			walk(f)
		}
	}
	walk(schema.Envelope())
	for _, o := range option.All() {
		if strings.HasSuffix(o.Name, "-mean") || strings.HasSuffix(o.Name, "-stddev") {
			names = append(names, o.Name)
		}
	}
	return names
}

// word is the text of a sample.
const word = "some-word"

// sample is a flag with a value that is not the option's default.
func sample(o *option.Option, data string) string {
	value := word
	switch o.Type {
	case option.Bool:
		value = fmt.Sprint(o.Default != "true")
	case option.Int, option.Float, option.Number:
		least, _, _ := o.Limits.Least()
		most, bounded := o.Limits.Most()
		value = option.PlainNumber(max(least, 0) + 2)
		if bounded && max(least, 0)+2 > most {
			value = option.PlainNumber((max(least, 0) + most) / 2)
		}
	case option.Enum:
		choices := o.Values
		if o.BuiltValues != nil {
			choices = o.BuiltValues
		}
		value = choices[len(choices)-1]
		if value == o.Default && len(choices) > 1 {
			value = choices[0]
		}
	case option.Path:
		value = data
	case option.Pairs, option.Headers:
		value = "a:b"
	}
	return "--" + o.Name + "=" + value
}

// companions are what options of a prefix need; the first row counts. An option that is in its own companions has its
// value there.
var companions = []struct{ prefix, args string }{
	{"num-gpus", "--price-per-gpu-hour 2.5"},
	{"model-names", "--model-names=a,b"},
	{"url-strategy", ""},
	{"url", "--url=https://h:2/v1"},
	{"custom-endpoint", "--custom-endpoint=/x"},
	{"transport", "--transport=http"},
	{"per-chunk-usage", "--streaming"},
	{"request-content-type", "--endpoint-type image_edit"},
	{"uuid-and-strip", "--input-file DATA --custom-dataset-type single_turn"},
	{
		"reset-kv-cache-path",
		"--reset-kv-cache-path=/x",
	},
	{"server-profiler-start-path", "--server-profiler-start-path=/x"},
	{"server-profiler-stop-path", "--server-profiler-stop-path=/x"},
	{"source-address", "--source-address=127.0.0.1"},
	{"tls-client-cert", "--tls-client-key DATA"},
	{"tls-client-key", "--tls-client-cert DATA"},
	{"auth-type", "--aws-region r --aws-service s"},
	{"aws-region", "--auth-type sigv4 --aws-service s"},
	{
		"aws-service",
		"--auth-type sigv4 --aws-region r",
	},
	{"aws-profile", "--auth-type sigv4 --aws-region r --aws-service s"},
	{"sagemaker-endpoint-name", "--aws-region r"},
	{"sagemaker-", "--sagemaker-endpoint-name e --aws-region r"},
	{"hf-subset", "--public-dataset sharegpt"},
	{"hf-weka-dataset", "--public-dataset weka_hf --hf-weka-dataset=a/b"},
	{"dataset-filter", "--public-dataset sharegpt --dataset-filter=a=b"},
	{"map", "--custom-dataset-type table --input-file DATA --map=text=text,timestamp="},
	{"dataset-path", "--public-dataset sharegpt"},
	{"custom-dataset-type", "--input-file TRACE --custom-dataset-type=mooncake_trace"},
	{"random-range-ratio-mode", "--isl 10 --osl 5 --random-range-ratio 0.5"},
	{"random-range-ratio", "--isl 10 --osl 5 --random-range-ratio=0.5"},
	{"image-source-sampling", "--image-width-mean 64 --image-height-mean 64 --image-source assets"},
	{"image-source", "--image-width-mean 64 --image-height-mean 64 --image-source=assets"},
	{"image-width-mean", "--image-height-mean 64"},
	{"image-height-mean", "--image-width-mean 64"},
	{"image-", "--image-width-mean 64 --image-height-mean 64"},
	{"audio-length-mean", ""},
	{"audio-depths", "--audio-length-mean 3 --audio-depths=8,16"},
	{"audio-sample-rates", "--audio-length-mean 3 --audio-sample-rates=16,44.1"},
	{"audio-num-channels", "--audio-length-mean 3 --audio-num-channels=2"},
	{"audio-", "--audio-length-mean 3"},
	{"video-width", "--video-height 64"},
	{"video-height", "--video-width 64"},
	{"video-audio-num", "--video-width 64 --video-height 64"},
	{
		"video-audio-sample",
		"--video-width 64 --video-height 64 --video-audio-num-channels 1 --video-audio-sample-rate=48",
	},
	{"video-audio-depth", "--video-width 64 --video-height 64 --video-audio-num-channels 1 --video-audio-depth=24"},
	{"video-audio-", "--video-width 64 --video-height 64 --video-audio-num-channels 1"},
	{"video-", "--video-width 64 --video-height 64"},
	{"synthesis-", "--input-file TRACE --custom-dataset-type mooncake_trace"},
	{"users", "--input-file TRACE --custom-dataset-type mooncake_trace"},
	{"inter-turn-delay", "--input-file DAG --custom-dataset-type dag_jsonl"},
	{"ignore-trace-delays", "--input-file DAG --custom-dataset-type dag_jsonl"},
	{"use-think-time-only", "--input-file TRACE --custom-dataset-type dynamo_trace"},
	{"max-context-length", "--input-file TRACE --custom-dataset-type dynamo_trace"},
	{"trace-session-sample-ratio", baseten},
	{"max-idle-gap", baseten},
	{"replay-speedup", baseten},
	{"open-loop", baseten},
	{"omit-kv-hints", baseten},
	{"force-min-tokens", baseten},
	{"prefill-concurrency-ramp", "--streaming --concurrency 4 --prefill-concurrency 2"},
	{"prefill-concurrency", "--streaming --concurrency 4"},
	{"benchmark-grace-period", "--benchmark-duration 5"},
	{"request-cancellation-delay", "--request-cancellation-rate 5"},
	{"concurrency-ramp", "--concurrency 4"},
	{"request-rate-ramp-duration", "--request-rate 5"},
	{"arrival-smoothness", "--request-rate 5 --arrival-pattern gamma"},
	{"num-users", "--user-centric-rate 5 --conversation-turn-mean 2 --num-sessions 9"},
	{"fixed-schedule-start-offset", "--fixed-schedule --input-file TRACE --custom-dataset-type mooncake_trace"},
	{"fixed-schedule", "--fixed-schedule --input-file TRACE --custom-dataset-type mooncake_trace"},
	{"simultaneous-start", "--concurrency 4"},
	{"percentiles", "--percentiles=99.9"},
	{"goodput", "--goodput=request_latency:5"},
	{"server-metrics-formats", ""},
	{"server-metrics", "--server-metrics=http://h:3/metrics"},
	{
		"otel-resource-attributes",
		"--otel-url h:1 --otel-resource-attributes=a=b",
	},
	{"gen-ai-provider", "--otel-url h:1"},
	{"mlflow-tracking-uri", "--mlflow-tracking-uri=http://h:5"},
	{"mlflow-", "--mlflow-tracking-uri http://h:5"},
	{"wandb-project", "--wandb-project=other"},
	{"wandb-", "--wandb-project p"},
	{"metrics-listen", "--metrics-listen=127.0.0.1:0"},
	{"web", "--web=127.0.0.1:0"},
	{"accuracy-benchmark", "--accuracy-benchmark=gsm8k"},
	{"accuracy-tasks", "--accuracy-benchmark mmlu --accuracy-tasks=anatomy"},
	{"accuracy-allow-code-execution", "--accuracy-benchmark gsm8k"},
	{"accuracy-grader", "--accuracy-benchmark gsm8k --accuracy-grader=math"},
	{"accuracy-", "--accuracy-benchmark mmlu"},
	{"api-host", "--api-port 9"},
	{"fail-if", "--fail-if=request_latency:p99>5"},
	{"profile-run-", "--num-profile-runs 2"},
	{"set-consistent-seed", "--num-profile-runs 2"},
	{"convergence-metric", "--num-profile-runs 2 --convergence-metric=request_latency"},
	{"convergence-", "--num-profile-runs 2 --convergence-metric request_latency"},
	{"confidence-level", "--num-profile-runs 2"},
	{"vary-seed-per-trial", "--num-profile-runs 2"},
	{"prompt-output-tokens-stddev", "--osl 9"},
	{"prompt-input-tokens-stddev", "--isl 9"},
	{"conversation-turn-delay-stddev", "--conversation-turn-mean 2 --conversation-turn-delay-mean 9"},
	{"conversation-turn-stddev", "--conversation-turn-mean 3"},
	{"rankings-", "--endpoint-type nim_rankings"},
	{"nats-url", "--wait-for-agents 2 --nats-url=tls://h:4222"},
	{"nats-listen", "--wait-for-agents 2 --nats-listen=127.0.0.1:4222"},
	{"nats-creds-file", "--agents 2 --nats-url tls://h:4222"},
	{"nats-cert-file", "--agents 2 --nats-key-file DATA"},
	{"nats-key-file", "--agents 2 --nats-cert-file DATA"},
	{"nats-", "--agents 2"},
	{"agents-timeout", "--wait-for-agents 2"},
	{"fleet-", "--agents 2"},
}

const baseten = "--input-file BASETEN --custom-dataset-type baseten_trace"

// withCompanions is an option's flag between those that it needs.
func withCompanions(name string) string {
	for _, c := range companions {
		if strings.HasPrefix(name, c.prefix) {
			return c.args
		}
	}
	return ""
}

// ofScenarios are the options that only the replay of agents takes.
var ofScenarios = []string{
	"scenario", "allow-dataset-wrap", "trace-idle-gap-cap-seconds", "trajectory-start-min-ratio",
	"trajectory-start-max-ratio", "burst-phase-starts", "system-idle-gap-cap-seconds",
	"agentic-cache-warmup-duration", "agentic-warmup-grace-period", "warmup-requests-per-lane",
}

// hidden are the options with which a run has a key or token in a file: the complete configuration has no such path.
var hidden = []string{"tls-client-cert", "tls-client-key", "nats-cert-file", "nats-key-file", "nats-token-file"}

// noRoundTrip are the options whose value is not in the file of a run, with the reason.
var noRoundTrip = map[string]string{
	"endpoint-plugin":          "a file does not make aiperf run a program",
	"model-selection-strategy": "weighted needs weights, which flags do not have",
	"seq-dist":                 "the file has the distributions written out",
	"input-file":               "the file names the format that flags find out",
}

// The headers of single URLs are in the file of a run beside their URLs, each secret as a variable of its own, and are
// hidden where a file is shown.
func TestHeadersOfURLsMakeARoundTrip(t *testing.T) {
	parsed, err := settings.Parse(configtest.Words("--model m --url http://a:1 http://b:2 --url-header 0=X-A:x "+
		"--url-header 0=Authorization:"+word+" --url-header 1=Authorization:"+word), configtest.Environ())
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	tree, variables := file.FromRun(want)
	if want := []string{"BENCH_AUTHORIZATION_0", "BENCH_AUTHORIZATION_1"}; !slices.Equal(variables, want) {
		t.Errorf("the variables are %q, want %q", variables, want)
	}
	text := document.AppendYAML(nil, tree, 0)
	if strings.Contains(string(text), word) {
		t.Errorf("the file has the secret:\n%s", text)
	}
	got, err := again(text, variables)
	if err != nil {
		t.Fatalf("%v\nof:\n%s", err, text)
	}
	if diff := cmp.Diff(want.Endpoint.URLHeaders, got.Endpoint.URLHeaders); diff != "" {
		t.Errorf("%s\nof:\n%s", diff, text)
	}
	if shown := string(shown(t, text, variables)); strings.Contains(shown, word) || !strings.Contains(shown, "X-A: x") {
		t.Errorf("the file is shown as\n%s", shown)
	}
}
