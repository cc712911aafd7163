#!/usr/bin/env bash
# Runs ours in twenty-two ways against a mock server; then the data models of the original, installed from PyPI as a
# black box, load every JSON and JSONL file that the runs left, as it is. The other way round, the original runs in nine
# ways and our commands read its folders; what aiperf report computes again is compared with the original's own figures.
# What aiperf record and aiperf anonymize write is played by both programs, which must send every request of it.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
#   ONLY=ours|theirs|traces   one part alone
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
export PYTHONDONTWRITEBYTECODE=1
build

work=$cache/readers
rm -rf "$work"
mkdir -p "$work/ours" "$work/theirs"
cd "$work"
mock_server server.log --ttft 5 --itl 1 --dcgm-load 0.5

for ms in $(seq 0 20 180); do
    echo "{\"timestamp\": $ms, \"input_length\": 40, \"output_length\": 4, \"hash_ids\": [$((ms / 60))]}"
done >trace.jsonl
for i in 1 2 3 4; do echo "{\"text\": \"What is $i?\"}"; done >single.jsonl
echo '[{"time_s": 0, "qps": 20}, {"time_s": 1, "qps": 40}]' >series.json

failed=0
# profile PROGRAM DIR FLAGS...: a run of one of the programs, which must succeed.
profile() {
    local program=$1 dir=$2
    shift 2
    timeout 300 "$program" profile --model mock-model --tokenizer builtin --url "$url" --ui none --artifact-dir "$dir" "$@" >"$dir.log" 2>&1 ||
        { echo "$dir: exit code $?"; tail -5 "$dir.log"; failed=1; }
}
ours() { profile "$cache/aiperf" "ours/$@"; }
theirs() { profile "$cache/venv/bin/aiperf" "theirs/$@"; }
quiet=(--no-server-metrics --no-gpu-telemetry)
few=(--isl 20 --osl 4 --concurrency 2 --request-count 6)
chat=(--endpoint-type chat --streaming)

if [ "${ONLY:-ours}" = ours ]; then
    ours chat "${quiet[@]}" "${chat[@]}" "${few[@]}" --random-seed 3 --isl-stddev 4
    ours completions "${quiet[@]}" --endpoint-type completions "${few[@]}" --model-selection-strategy random --use-legacy-max-tokens
    ours embeddings "${quiet[@]}" --endpoint-type embeddings --isl 20 --concurrency 2 --request-count 4 --batch-size-text 2
    ours rankings "${quiet[@]}" --endpoint-type nim_rankings --concurrency 2 --request-count 4 --rankings-passages-mean 3
    ours images "${quiet[@]}" "${chat[@]}" "${few[@]}" --image-width-mean 16 --image-height-mean 8 --image-format png
    ours audio "${quiet[@]}" "${chat[@]}" "${few[@]}" --audio-length-mean 0.05 --audio-sample-rates 16,44.1 --audio-num-channels 2
    ours multi-turn "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --concurrency 2 --num-sessions 3 --session-turns-mean 2 --session-turn-delay-mean 5 \
        --connection-reuse-strategy sticky-user-sessions --num-prefix-prompts 2 --prefix-prompt-length 8
    ours schedule "${quiet[@]}" "${chat[@]}" --input-file trace.jsonl --custom-dataset-type mooncake_trace --fixed-schedule --fixed-schedule-auto-offset \
        --synthesis-speedup-ratio 2 --isl-block-size 64
    ours users "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --user-centric-rate 50 --num-users 3 --session-turns-mean 2 --request-count 12
    ours rate "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --request-rate 50 --arrival-pattern gamma --arrival-smoothness 2 --concurrency 8 --request-count 12 \
        --request-rate-ramp-duration 0.2 --concurrency-ramp-duration 0.2
    ours series "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --request-rate-series series.json --benchmark-duration 1 --benchmark-grace-period inf
    ours warmup "${quiet[@]}" "${chat[@]}" "${few[@]}" --warmup-request-count 3 --network-latency-mean 0.1 --prefill-concurrency 2
    ours slices "${quiet[@]}" "${chat[@]}" "${few[@]}" --goodput 'request_latency:1000 time_to_first_token:500' --slice-duration 0.05 --percentiles 99.9
    ours server-metrics --no-gpu-telemetry "${chat[@]}" "${few[@]}" --warmup-request-count 3 --server-metrics "$url/metrics" --server-metrics-formats json csv jsonl parquet
    ours gpu --no-server-metrics "${chat[@]}" "${few[@]}" --warmup-request-count 3 --gpu-telemetry "$url/dcgm1/metrics"
    ours raw "${quiet[@]}" "${chat[@]}" "${few[@]}" --export-level raw --export-http-trace --header 'Authorization:Bearer secret' --extra-inputs temperature:0.5
    ours repeats "${quiet[@]}" "${chat[@]}" "${few[@]}" --num-profile-runs 2
    ours template "${quiet[@]}" --endpoint-type template --custom-endpoint /v1/completions "${few[@]}" \
        --extra-inputs '{"payload_template": "{\"model\": {{ model|tojson }}, \"prompt\": {{ text|tojson }}, \"max_tokens\": 4}", "response_field": "choices[0].text"}'
    ours cancellation "${quiet[@]}" "${chat[@]}" --isl 20 --osl 100 --concurrency 2 --request-count 8 --request-cancellation-rate 50 --request-cancellation-delay 0.01
    ours errors "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --concurrency 2 --request-count 12 --header 'X-Mock-Fault:status=503;rate=0.4' --random-seed 1
    ours file "${quiet[@]}" "${chat[@]}" --input-file single.jsonl --custom-dataset-type single_turn --osl 4 --concurrency 2 --num-conversations 4 \
        --dataset-sampling-strategy shuffle --system-prompt 'Be brief.'
    ours lengths "${quiet[@]}" "${chat[@]}" --seq-dist '20|2,4:50;30,6:50' --concurrency 2 --request-count 6 --wait-for-model-timeout 30 --use-server-token-count
    cd "$root/interop/reference"
    "$cache/venv/bin/python" readers.py "$work/ours" || failed=1
    cd "$work"
fi

if [ "${ONLY:-theirs}" = theirs ]; then
    theirs chat --no-gpu-telemetry "${chat[@]}" "${few[@]}" --random-seed 3 --export-level raw --export-http-trace --server-metrics-formats json csv jsonl
    theirs warmup "${quiet[@]}" "${chat[@]}" "${few[@]}" --warmup-request-count 3 --goodput 'request_latency:1000' --slice-duration 1
    theirs errors "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --concurrency 2 --request-count 12 --header 'X-Mock-Fault:status=503;rate=0.4'
    theirs slices "${quiet[@]}" "${chat[@]}" --isl 30 --osl 8 --concurrency 3 --request-count 60 --slice-duration 0.1 --network-latency-mean 1 \
        --extra-inputs ignore_eos:true
    theirs multi-turn "${quiet[@]}" "${chat[@]}" --isl 20 --osl 4 --concurrency 2 --num-sessions 3 --session-turns-mean 2 --random-seed 1
    theirs completions "${quiet[@]}" --endpoint-type completions "${few[@]}"
    theirs embeddings "${quiet[@]}" --endpoint-type embeddings --isl 20 --concurrency 2 --request-count 4
    theirs gpu --no-server-metrics "${chat[@]}" "${few[@]}" --gpu-telemetry "$url/dcgm1/metrics"
    theirs repeats "${quiet[@]}" "${chat[@]}" "${few[@]}" --num-profile-runs 2
    # reads WHAT COMMAND...: a command of ours that must not fail.
    reads() {
        local what=$1
        shift
        timeout 120 "$cache/aiperf" "$@" >"$what.out" 2>&1 || { echo "$what: aiperf $*: exit code $?"; tail -5 "$what.out"; failed=1; }
    }
    for run in chat warmup errors slices multi-turn completions embeddings gpu repeats/profile_runs/run_0001; do
        name=${run//\//-}
        reads "report-$name" report "theirs/$run" --output-dir "again/$name"
        python3 "$root/interop/reference/again.py" "report-$name" "theirs/$run" "again/$name" || failed=1
        reads "compare-$name" compare theirs/chat "theirs/$run"
        reads "gate-$name" gate "theirs/$run" --fail-if 'request_latency:p50>100000'
        reads "lanes-$name" analyze swim-lane "theirs/$run" -o "$name.png"
    done
    reads messages analyze turn-messages theirs/chat -o messages.html
    reads series compare theirs/repeats theirs/repeats
    reads metrics server-metrics theirs/chat/server_metrics_export.jsonl --output-dir again/metrics
    [ $failed = 1 ] || echo "readers: our commands read the original's folders of 9 kinds of run"
fi

if [ "${ONLY:-traces}" = traces ]; then
    start record.log "$cache/aiperf" record --upstream "$url" --listen 127.0.0.1:0 --out recorded --keep text
    wait_for grep -q 'clients use' record.log
    "$cache/aiperf" profile "${quiet[@]}" "${chat[@]}" --tokenizer builtin --model mock-model --ui none --artifact-dir clients \
        --url "$(grep -o 'http://127[^ ]*' record.log | head -n 1)" --num-sessions 8 --session-turns-mean 3 --session-turn-delay-mean 50 \
        --shared-system-prompt-length 100 --isl 60 --osl 6 --concurrency 4 --extra-inputs ignore_eos:true >clients.log 2>&1 || failed=1
    stop
    "$cache/aiperf" anonymize recorded --out anonymized >anonymize.log 2>&1 || failed=1
    requests=$(grep -c session_id recorded/traffic.jsonl)
    # plays PROGRAM FOLDER FORMAT FLAGS...: a trace, of which every request is sent and answered.
    plays() {
        local dir=played/${1##*/venv/bin/}-$2-$3
        dir=${dir//"$cache/"/}
        mkdir -p played
        local file=$2/$3
        [ "$3" != mooncake_trace ] || file+=.jsonl
        profile "$1" "$dir" "${quiet[@]}" "${chat[@]}" --input-file "$file" --custom-dataset-type "$3" "${@:4}"
        [ "$(grep -c '"error":null\|"metrics":{"' "$dir/profile_export.jsonl")" = "$requests" ] ||
            { echo "$dir: $(wc -l <"$dir/profile_export.jsonl") requests instead of $requests"; failed=1; }
    }
    for folder in recorded anonymized; do
        for program in "$cache/aiperf" "$cache/venv/bin/aiperf"; do
            plays "$program" $folder mooncake_trace --isl-block-size 16 --fixed-schedule --fixed-schedule-auto-offset
            plays "$program" $folder weka_trace --concurrency 4 --request-count "$requests"
        done
    done
    [ $failed = 1 ] || echo "readers: both programs play the $requests requests of a recording, as it is and anonymized, in two formats"
fi
exit $failed
