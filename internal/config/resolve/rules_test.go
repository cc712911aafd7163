package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
)

// TestRules walks over the validation rules: a line that breaks the rule and what the message must
// name, and a neighbouring line that keeps it.
func TestRules(t *testing.T) {
	file := configtest.WriteFile(t, "data.jsonl", `{"text":"x"}`+"\n")
	timed := configtest.WriteFile(t, "timed.jsonl", `{"timestamp":1}`+"\n")
	series := configtest.WriteFile(t, "series.json", `[{"time_s":0,"qps":5},{"time_s":1,"qps":10}]`)
	for _, c := range []struct{ rule, bad, names, good string }{
		{"V1", "--streaming", "--model-names", "-m m"},
		{"V2", "-m m --fixed-schedule", "--fixed-schedule --input-file", "-m m --fixed-schedule --input-file FILE"},
		{"V3", "-m m --fixed-schedule --input-file FILE --fixed-schedule-auto-offset --fixed-schedule-start-offset 5",
			"--fixed-schedule-start-offset --fixed-schedule-auto-offset",
			"-m m --fixed-schedule --input-file FILE --fixed-schedule-start-offset 5"},
		{"V4", "-m m --fixed-schedule --input-file FILE --fixed-schedule-start-offset 5 --fixed-schedule-end-offset 4",
			"5 4", "-m m --fixed-schedule --input-file FILE --fixed-schedule-start-offset 5 " +
				"--fixed-schedule-end-offset 5"},
		{"V5", "-m m --fixed-schedule-end-offset 4 --fixed-schedule-auto-offset",
			"--fixed-schedule-end-offset --fixed-schedule-auto-offset", "-m m"},
		{"", "-m m --simultaneous-start --request-rate 4 --concurrency 2", "--simultaneous-start --concurrency",
			"-m m --simultaneous-start --concurrency 2"},
		{"", "-m m --simultaneous-start --concurrency 4 --concurrency-ramp-duration 2",
			"--simultaneous-start --concurrency-ramp-duration",
			"-m m --simultaneous-start=false --concurrency 4 --concurrency-ramp-duration 2"},
		{"", "-m m --request-rate inf --benchmark-duration 5", "--request-rate --concurrency --request-count",
			"-m m --request-rate inf --benchmark-duration 5 --concurrency 2"},
		{"", "-m m --warmup-request-rate inf --warmup-duration 5", "--warmup-request-rate --warmup-concurrency",
			"-m m --warmup-request-rate inf --warmup-duration 5 --warmup-concurrency 2"},
		{"", "-m m --request-rate inf --request-count 5 --warmup-duration 5", "--request-rate --warmup-concurrency",
			"-m m --request-rate inf --request-count 5 --num-warmup-sessions 5"},
		{"V6", "-m m --public-dataset sharegpt --custom-dataset-type single_turn",
			"--public-dataset --custom-dataset-type", "-m m --public-dataset sharegpt"},
		{"V7", "-m m --custom-dataset-type single_turn", "--custom-dataset-type --input-file",
			"-m m --custom-dataset-type single_turn --input-file FILE"},
		{"", "-m m --custom-dataset-type speed_bench_qa --input-file FILE --dataset-path FILE",
			"--dataset-path --input-file", "-m m --custom-dataset-type speed_bench_qa --dataset-path FILE"},
		{"", "-m m --custom-dataset-type speed_bench_qa --fixed-schedule --input-file FILE",
			"--fixed-schedule speed_bench_qa", "-m m --custom-dataset-type speed_bench_qa --input-file FILE"},
		{"V8", "-m m --custom-dataset-type single_turn --input-file FILE --synthesis-max-isl 5",
			"--synthesis-max-isl --custom-dataset-type",
			"-m m --custom-dataset-type single_turn --input-file FILE --synthesis-speedup-ratio 1"},
		{"V9", "-m m --goodput nonsense:1", "--goodput nonsense", "-m m --goodput request_latency:1"},
		{"V9", "-m m --goodput request_latency", "--goodput request_latency", "-m m --goodput request_latency:1.5"},
		{"V11", "-m m --warmup-request-count 5 --num-warmup-sessions 5", "--warmup-request-count --num-warmup-sessions",
			"-m m --num-warmup-sessions 5"},
		{"V13", "-m m --prefill-concurrency 1", "--prefill-concurrency --streaming",
			"-m m --prefill-concurrency 1 --streaming"},
		{"V13", "-m m --warmup-prefill-concurrency 1 --warmup-duration 5", "--warmup-prefill-concurrency",
			"-m m --streaming --warmup-prefill-concurrency 1 --warmup-duration 5"},
		{"V14", "-m m --streaming --prefill-concurrency 5 --concurrency 4", "--prefill-concurrency 5 --concurrency 4",
			"-m m --streaming --prefill-concurrency 4 --concurrency 4"},
		{"V14", "-m m --streaming --warmup-prefill-concurrency 5 --concurrency 9 --warmup-concurrency 4",
			"--warmup-prefill-concurrency --warmup-concurrency",
			"-m m --streaming --warmup-prefill-concurrency 5 --concurrency 9"},
		{"V15", "-m m --user-centric-rate 1 --session-turns-mean 2 --request-count 9", "--num-users",
			"-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 9"},
		{"V16", "-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 9 --request-rate 4",
			"--user-centric-rate --request-rate", "-m m --request-rate 4"},
		{"V16", "-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 9 " +
			"--request-rate-mode poisson", "--request-rate-mode", "-m m --request-rate 4 --request-rate-mode poisson"},
		{"V17", "-m m --user-centric-rate 1 --num-users 2 --request-count 9", "--session-turns-mean",
			"-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 9"},
		{"V18", "-m m --num-users 2", "--num-users --user-centric-rate", "-m m"},
		{"V19", "-m m --user-centric-rate 1 --num-users 12 --session-turns-mean 2 --request-count 9",
			"--request-count 9 --num-users 12",
			"-m m --user-centric-rate 1 --num-users 9 --session-turns-mean 2 --request-count 9"},
		{"V20", "-m m --request-rate 4 --arrival-pattern concurrency_burst", "--arrival-pattern --request-rate",
			"-m m --arrival-pattern concurrency_burst"},
		{"V21", "-m m --request-rate 4 --arrival-pattern constant --vllm-burstiness 2",
			"--vllm-burstiness --arrival-pattern constant",
			"-m m --request-rate 4 --arrival-pattern gamma --vllm-burstiness 2"},
		{"V22", "-m m --benchmark-grace-period 5", "--benchmark-duration",
			"-m m --benchmark-grace-period 0 --benchmark-duration 5"},
		{"V23", "-m m --warmup-grace-period 5", "--warmup-duration",
			"-m m --warmup-grace-period 5 --warmup-duration 5"},
		{"V24", "-m m --request-cancellation-delay 0", "--request-cancellation-rate",
			"-m m --request-cancellation-delay 0 --request-cancellation-rate 5"},
		{"V25", "-m m --request-rate-ramp-duration 5", "--request-rate",
			"-m m --request-rate-ramp-duration 5 --request-rate 5"},
		{"V26", "-m m --fixed-schedule --input-file FILE --dataset-sampling-strategy random",
			"--dataset-sampling-strategy", "-m m --input-file FILE --dataset-sampling-strategy random"},
		{"V26", "-m m --fixed-schedule --input-file FILE --dataset-sampling-strategy shuffle",
			"--dataset-sampling-strategy shuffle",
			"-m m --fixed-schedule --input-file FILE --dataset-sampling-strategy sequential"},
		{"", "-m m --user-centric-rate 1 --num-users 2 --request-count 4 --input-file FILE --custom-dataset-type " +
			"single_turn", "--user-centric-rate multi_turn single_turn",
			"-m m --user-centric-rate 1 --num-users 2 --request-count 4 --input-file FILE --custom-dataset-type " +
				"multi_turn"},
		{"V17", "-m m --user-centric-rate 1 --num-users 2 --request-count 4", "--session-turns-mean",
			"-m m --user-centric-rate 1 --num-users 2 --request-count 4 --input-file FILE --custom-dataset-type " +
				"multi_turn"},
		{"V28", "-m m --shared-system-prompt-length 5 --num-prefix-prompts 2 --prefix-prompt-length 5",
			"--shared-system-prompt-length --num-prefix-prompts",
			"-m m --num-prefix-prompts 2 --prefix-prompt-length 5"},
		{"V29", "-m m --rankings-passages-mean 2", "--rankings-passages-mean cohere_rankings",
			"-m m --endpoint-type cohere_rankings --rankings-passages-mean 2"},
		{"V31", "-m m --endpoint-type image_retrieval --isl 5 --batch-size 2", "--isl --batch-size",
			"-m m --endpoint-type image_retrieval --isl 0"},
		{"V32", "-m m --endpoint-type image_retrieval --tokenizer builtin", "--tokenizer",
			"-m m --endpoint-type embeddings --tokenizer builtin"},
		{"V33", "-m m --request-content-type multipart/form-data", "--request-content-type",
			"-m m --endpoint-type video_generation --request-content-type multipart/form-data"},
		{"V34", "-m m --gpu-telemetry --no-gpu-telemetry", "--gpu-telemetry --no-gpu-telemetry",
			"-m m --no-gpu-telemetry"},
		{"V34", "-m m --server-metrics a:1 --no-server-metrics", "--server-metrics --no-server-metrics",
			"-m m --no-server-metrics"},
		{"", "-m m --price-per-gpu-hour 2.5 --no-gpu-telemetry", "--price-per-gpu-hour --num-gpus",
			"-m m --price-per-gpu-hour 2.5 --no-gpu-telemetry --num-gpus 1"},
		{"V35", "-m m --gpu-telemetry missing.csv", "--gpu-telemetry missing.csv", "-m m --gpu-telemetry n:1"},
		{"V36", "-m m --video-width 64", "--video-width --video-height", "-m m --video-width 64 --video-height 64"},
		{"V37", "-m m --video-audio-codec opus", "--video-audio-codec",
			"-m m --video-audio-codec opus --video-audio-num-channels 1"},
		{"V39", "-m m --concurrency 1,2 --fixed-schedule --input-file FILE", "--concurrency", "-m m --concurrency 1,2"},
		{"V41", "-m m --profile-run-cooldown-seconds 1 --set-consistent-seed",
			"--profile-run-cooldown-seconds --set-consistent-seed",
			"-m m --profile-run-cooldown-seconds 1 --num-profile-runs 2"},
		{"V43", "-m m --num-profile-runs 3 --convergence-metric x --convergence-mode distribution --convergence-stat " +
			"p99", "--convergence-stat",
			"-m m --num-profile-runs 3 --convergence-metric x --convergence-mode distribution"},
		{"V43", "-m m --num-profile-runs 3 --convergence-metric x --convergence-mode distribution --export-level " +
			"summary", "summary", "-m m --export-level summary"},
		{"V45", "-m m --api-host 0.0.0.0", "--api-host --api-port AIPERF_API_SERVER_PORT",
			"-m m --api-host 0.0.0.0 --api-port 90"},
		{"V46", "-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2",
			"--request-count --num-sessions --benchmark-duration", "-m m --request-rate 5"},
		{"V47", "-m m --image-source-sampling shuffle-cycle", "--image-source-sampling",
			"-m m --image-source-sampling shuffle-cycle --image-source assets"},
		{"V47", "-m m --ignore-trace-delays --use-think-time-only", "--ignore-trace-delays --use-think-time-only",
			"-m m --ignore-trace-delays"},
		{"V47", "-m m --open-loop-strict --no-open-loop-replay", "--open-loop-strict --no-open-loop-replay",
			"-m m --open-loop-strict --open-loop-replay"},
		{"V47", "-m m --network-latency-automatic --network-latency-mean 5",
			"--network-latency-automatic --network-latency-mean", "-m m --network-latency-mean 5"},
		{"V47", "-m m --request-rate 5 --request-rate-series FILE", "--request-rate --request-rate-series",
			"-m m --request-rate 5"},
		{"V47", "-m m --random-range-ratio 0.5 --seq-dist 1,1:100", "--random-range-ratio --seq-dist",
			"-m m --seq-dist 1,1:100"},
		{"V47", "-m m --sweep-type zip --concurrency 1,2 --isl 1,2,3", "--concurrency has 2 values, --isl has 3",
			"-m m --sweep-type zip --concurrency 1,2 --isl 1,2"},
		{"V47", "-m m --search-space x:1,2 --concurrency 1,2", "--search-space --concurrency",
			"-m m --search-space x:1,2"},
		{"", "-m m --system-prompt a --shared-system-prompt-length 5", "--system-prompt", "-m m --system-prompt a"},
		{"", "-m m --system-prompt a --num-prefix-prompts 2 --prefix-prompt-length 5",
			"--system-prompt --num-prefix-prompts --prefix-prompt-length exclusive",
			"-m m --system-prompt a --num-prefix-prompts 0"},
		{"", "-m m --system-prompt-file FILE --endpoint-type completions", "--system-prompt-file completions chat",
			"-m m --system-prompt-file FILE"},
		{"", "-m m --url http://", "no host", "-m m --url h"},
		{"", "-m m --url ftp://h", "http or https", "-m m --url https://h"},
		{"", "-m m --url", "at least one URL", "-m m --url HTTPS://h"},
		{"", "-m m --profile-export-prefix ../x", "inside the artifact directory",
			"-m m --profile-export-prefix a/../x"},
		{"", "-m m --per-chunk-usage", "--streaming", "-m m --per-chunk-usage --streaming"},
		{"", "-m m --uuid-and-strip --endpoint-type responses --input-file FILE", "--uuid-and-strip chat",
			"-m m --uuid-and-strip --input-file FILE"},
		{"", "-m m --uuid-and-strip --custom-dataset-type multi_turn --input-file FILE",
			"--uuid-and-strip single_turn multi_turn",
			"-m m --uuid-and-strip --custom-dataset-type single_turn --input-file FILE"},
		{"", "-m m --uuid-and-strip", "--uuid-and-strip --input-file", "-m m"},
		{"", "-m m --per-chunk-usage --streaming --endpoint-type completions", "--per-chunk-usage chat",
			"-m m --per-chunk-usage --streaming --endpoint-type chat"},
		{"", "-m m --video-audio-sample-rate 1000", "8000", "-m m --video-audio-sample-rate 44.1"},
		{"", "-m m --image-width-mean 65536", "--image-width-mean 65535", "-m m --image-width-mean 65535"},
		{"", "-m m --audio-length-mean 1e8", "--audio-length-mean 3600", "-m m --audio-length-mean 3600"},
		{"", "-m m --audio-length-mean 1 --audio-length-stddev 1e8", "--audio-length-stddev 3600",
			"-m m --audio-length-mean 1 --audio-length-stddev 0.1"},
		{"", "-m m --audio-length-mean 0.005", "--audio-length-mean 0.01", "-m m --audio-length-mean 0.01"},
		{"", "-m m --audio-depths 16,12", "--audio-depths 12", "-m m --audio-depths 8,16,24,32"},
		{"", "-m m --audio-depths 16.5", "--audio-depths 16.5", "-m m --audio-depths 16.0"},
		{"", "-m m --audio-format mp3 --audio-sample-rates 16,96", "--audio-sample-rates 96 11.025 44.1",
			"-m m --audio-format mp3 --audio-sample-rates 11.025,44.1,8"},
		{"", "-m m --audio-sample-rates 16000", "--audio-sample-rates 16000 kHz", "-m m --audio-sample-rates 96"},
		{"", "-m m --video-width 8 --video-height 8 --video-duration 0.2", "--video-duration --video-fps 4",
			"-m m --video-width 8 --video-height 8 --video-duration 0.25"},
		{"", "-m m --replay-speedup 2", "--replay-speedup --input-file", "-m m --replay-speedup 2 --input-file FILE"},
		{"", "-m m --omit-kv-hints --custom-dataset-type single_turn --input-file FILE",
			"--omit-kv-hints baseten_trace single_turn",
			"-m m --omit-kv-hints --custom-dataset-type baseten_trace --input-file FILE"},
		{"", "-m m --no-force-min-tokens", "--no-force-min-tokens --input-file", "-m m --force-min-tokens"},
		{"", "-m m --cache-bust first_turn_prefix --endpoint-type completions",
			"--cache-bust first_turn_prefix completions", "-m m --cache-bust first_turn_prefix"},
		{"", "-m m --cache-bust warmup_isolation_system --warmup-request-count 1", "--cache-bust --system-prompt",
			"-m m --cache-bust warmup_isolation_system --system-prompt s --warmup-request-count 1"},
		{"", "-m m --stream timing", "--stream --otel-url", "-m m --stream timing --otel-url c"},
		{"", "-m m --otel-resource-attributes a=b", "--otel-resource-attributes --otel-url",
			"-m m --otel-resource-attributes a=b --otel-url c"},
		{"", "-m m --gen-ai-provider x", "--gen-ai-provider --otel-url", "-m m --gen-ai-provider x --otel-url c"},
		{"", "-m m --otel-url c --otel-resource-attributes a", "--otel-resource-attributes key=value",
			"-m m --otel-url c --otel-resource-attributes a="},
		{"", "-m m --otel-url grpc://c/v1/metrics", "--otel-url path", "-m m --otel-url grpc://c"},
		{"", "-m m --otel-url c:99999", "--otel-url port", "-m m --otel-url c:9999"},
		{"", "-m m --otel-url http://c?token=x", "--otel-url query", "-m m --otel-url http://c/otlp"},
		{"", "-m m --otel-url http://", "--otel-url host", "-m m --otel-url [::1]:4318"},
		{"", "-m m --mlflow-experiment e", "--mlflow-experiment --mlflow-tracking-uri",
			"-m m --mlflow-experiment e --mlflow-tracking-uri http://t:5000"},
		{"", "-m m --mlflow-run-name e", "--mlflow-run-name --mlflow-tracking-uri",
			"-m m --mlflow-run-name e --mlflow-tracking-uri https://u:p@t/x"},
		{"", "-m m --mlflow-tag a:b", "--mlflow-tag --mlflow-tracking-uri",
			"-m m --mlflow-tag a:b --mlflow-tracking-uri http://t"},
		{"", "-m m --mlflow-parent-run-id e", "--mlflow-parent-run-id --mlflow-tracking-uri",
			"-m m --mlflow-parent-run-id e --mlflow-tracking-uri http://t"},
		{"", "-m m --mlflow-artifact-glob *.txt", "--mlflow-artifact-glob --mlflow-tracking-uri",
			"-m m --mlflow-artifact-glob **/*.txt,*.json --mlflow-artifact-glob x/* --mlflow-tracking-uri http://t"},
		{"", "-m m --mlflow-tracking-uri sqlite:///x.db", "--mlflow-tracking-uri mlflow server",
			"-m m --mlflow-tracking-uri http://[::1]:5000"},
		{"", "-m m --mlflow-tracking-uri mlruns", "--mlflow-tracking-uri http://host:port", ""},
		{"", "-m m --mlflow-tracking-uri http://", "--mlflow-tracking-uri host", ""},
		{"", "-m m --mlflow-tracking-uri http://t:0", "--mlflow-tracking-uri port", ""},
		{"", "-m m --mlflow-tracking-uri http://t?a=b", "--mlflow-tracking-uri query", ""},
		{"", "-m m --mlflow-tracking-uri http://t --mlflow-tag a?:b", "--mlflow-tag letters",
			"-m m --mlflow-tracking-uri http://t --mlflow-tag a.b-c:d"},
		{"", "-m m --mlflow-tracking-uri http://t --mlflow-artifact-glob ../*", "--mlflow-artifact-glob outside", ""},
		{"", "-m m --mlflow-tracking-uri http://t --mlflow-artifact-glob /etc/*", "--mlflow-artifact-glob relative",
			""},
		{"", "-m m --mlflow-tracking-uri http://t --mlflow-artifact-glob [a", "--mlflow-artifact-glob pattern", ""},
		{"", "-m m --wandb-entity e", "--wandb-project", "-m m --wandb-entity e --wandb-project p"},
		{"", "-m m --wandb-project a/b", "--wandb-project characters", "-m m --wandb-project a.b --wandb-tag t"},
		{"", "-m m --fixed-schedule --ignore-trace-delays --input-file TIMED", "--fixed-schedule --ignore-trace-delays",
			"-m m --fixed-schedule --input-file TIMED"},
		{"V16", "-m m --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 2 " +
			"--request-rate-series SERIES", "--user-centric-rate --request-rate-series",
			"-m m --request-rate-series SERIES"},
		{"", "-m m --request-rate-ramp-duration 1 --request-rate-series SERIES",
			"--request-rate-series --request-rate-ramp-duration", "-m m --request-rate-series SERIES"},
		{"V20", "-m m --arrival-pattern concurrency_burst --request-rate-series SERIES",
			"--arrival-pattern --request-rate-series", "-m m --arrival-pattern poisson --request-rate-series SERIES"},
		{"V25", "-m m --fixed-schedule --input-file TIMED --request-rate 5 --request-rate-ramp-duration 1",
			"--request-rate-ramp-duration", "-m m --request-rate 5 --request-rate-ramp-duration 1"},
		{"V8", "-m m --synthesis-speedup-ratio 2", "--synthesis-speedup-ratio --input-file",
			"-m m --synthesis-speedup-ratio 2 --input-file TIMED"},
		{"", "-m m --fixed-schedule --no-fixed-schedule --input-file TIMED", "--fixed-schedule --no-fixed-schedule",
			"-m m --no-fixed-schedule"},
		{"", "-m m --wait-for-agents 2 --nats-listen 0.0.0.0:4222",
			"--nats-listen --nats-cert-file --nats-key-file --nats-allow-clear-text",
			"-m m --wait-for-agents 2 --nats-listen 0.0.0.0:4222 --nats-cert-file FILE --nats-key-file FILE"},
		{"", "-m m --agents 2 --nats-listen :4222", "--nats-listen --nats-allow-clear-text",
			"-m m --agents 2 --nats-listen :4222 --nats-allow-clear-text"},
		{"", "-m m --wait-for-agents 2 --nats-listen host.example:4222", "--nats-allow-clear-text",
			"-m m --wait-for-agents 2 --nats-listen [::1]:4222"},
		{"", "-m m --wait-for-agents 2 --nats-url nats://host.example:4222",
			"--nats-url tls:// --nats-ca-file --nats-allow-clear-text",
			"-m m --wait-for-agents 2 --nats-url nats://host.example:4222 --nats-ca-file FILE"},
		{"", "-m m --wait-for-agents 2 --nats-url ws://host.example --nats-ca-file FILE", "--nats-url",
			"-m m --wait-for-agents 2 --nats-url wss://host.example"},
		{"", "-m m --nats-allow-clear-text", "--nats-allow-clear-text --wait-for-agents",
			"-m m --wait-for-agents 2 --nats-url nats://host.example:4222 --nats-allow-clear-text"},
		{"", "-m m --server-metrics nonsense", "--server-metrics nonsense", "-m m --server-metrics n:1"},
	} {
		fill := strings.NewReplacer("FILE", file, "TIMED", timed, "SERIES", series)
		bad := check(t, fill.Replace(c.bad)).faults
		found := fault.List{}
		for _, f := range bad {
			if f.Rule == c.rule {
				found = append(found, f)
			}
		}
		if len(found) == 0 {
			t.Errorf("%s: %s: not refused: %v", c.rule, c.bad, bad)
		}
		configtest.WantText(t, c.rule+" "+c.bad, found.Error(), strings.Fields(c.names)...)
		if good := check(t, fill.Replace(c.good)).faults; good.Has(c.rule) {
			t.Errorf("%s: %s: refused: %v", c.rule, c.good, good)
		}
	}
}

func TestSeveralFaultsAtOnce(t *testing.T) {
	faults := resolveError(t, "--concurrency 20 --num-requests 10 --benchmark-grace-period 3 --prefill-concurrency 30")
	for _, rule := range []string{"V1", "V13", "V14", "V22"} {
		if !faults.Has(rule) {
			t.Errorf("%s is missing in %v", rule, faults)
		}
	}
}

func TestAskingForNothingIsAccepted(t *testing.T) {
	for _, line := range []string{
		"--no-server-metrics --no-gpu-telemetry --ui none", "--num-profile-runs 1", "--wait-for-model-timeout 0",
		"--image-batch-size 1",
		"--cache-bust none", "--no-export-outputs-json", "--reset-kv-cache=false",
		"--server-metrics-formats json csv parquet",
		"--zmq-host 10.0.0.1 --record-processors 4 --workers-max 8 --workers-min 1",
		"--tokenizer-revision main --tokenizer-trust-remote-code",
		"--audio-depths 16 --audio-sample-rates 16.0", "--prompt-corpus SONNET",
		"--transport http --request-content-type application/json",
		"--fixed-schedule=false --no-fixed-schedule", "--stats-interval 0",
	} {
		mustResolve(t, "-m m "+line)
	}
}
