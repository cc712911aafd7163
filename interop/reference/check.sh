#!/usr/bin/env bash
# Runs the original, installed from PyPI as a black box, and ours against the same mock server with the same
# settings, and compares their JSON, CSV and JSONL key by key (what may differ, and why, is in differences.tsv); then the
# aggregates of repeated runs, server metrics, GPU telemetry, outputs.json and the commands that analyze runs.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
mock_server "$cache/server.log" --ttft 10 --itl 2

status=0
# shapes NAME FLAGS...: a run of each program, with the same keys in their files; both compares values, too.
shapes() {
    local name=$1
    shift
    rm -rf "$cache/theirs-$name" "$cache/ours-$name"
    "$cache/venv/bin/aiperf" profile "$@" --artifact-dir "$cache/theirs-$name" >"$cache/theirs-$name.log" 2>&1 || true
    "$cache/aiperf" profile "$@" --artifact-dir "$cache/ours-$name" >"$cache/ours-$name.log" 2>&1 || true
    python3 keys.py "$name" "$cache/theirs-$name" "$cache/ours-$name" || status=1
}
both() {
    shapes "$@"
    python3 compare.py "$1" "$cache/theirs-$1" "$cache/ours-$1" || status=1
}
common=(--model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry)
both chat-streaming "${common[@]}" --endpoint-type chat --streaming --concurrency 4 --request-count 40 --isl 100 --osl 20 \
    --extra-inputs ignore_eos:true --goodput 'request_latency:1000 time_to_first_token:500'
both chat "${common[@]}" --endpoint-type chat --concurrency 4 --request-count 40 --isl 100 --osl 20
both completions-streaming "${common[@]}" --endpoint-type completions --streaming --concurrency 4 --request-count 40 \
    --isl 100 --osl 20
both warmup-rate "${common[@]}" --endpoint-type chat --streaming --request-rate 50 --arrival-pattern constant --request-count 40 \
    --warmup-request-count 5 --isl 100 --osl 10
both multi-turn "${common[@]}" --endpoint-type chat --streaming --concurrency 2 --num-sessions 5 --session-turns-mean 3 \
    --isl 50 --osl 10
both errors "${common[@]}" --endpoint-type chat --streaming --concurrency 4 --request-count 40 --isl 20 --osl 5 \
    --header 'X-Mock-Fault:status=503;rate=0.3'
both server-tokens "${common[@]}" --endpoint-type chat --streaming --concurrency 4 --request-count 20 --isl 50 --osl 10 \
    --use-server-token-count
both cancellation "${common[@]}" --endpoint-type chat --streaming --concurrency 4 --request-count 40 --isl 50 --osl 200 \
    --extra-inputs ignore_eos:true --request-cancellation-rate 50 --request-cancellation-delay 0.1 --random-seed 1
everything=(--model mock-model --tokenizer builtin --url "$url" --ui none --no-gpu-telemetry)
# Slices longer than the time between two scrapes, phases of several slices: both write every key there is.
shapes sliced "${everything[@]}" --endpoint-type chat --streaming --request-rate 25 --arrival-pattern constant \
    --request-count 60 --isl 50 --osl 10 --extra-inputs ignore_eos:true --warmup-request-rate 20 \
    --warmup-request-count 45 --slice-duration 0.5 --network-latency-mean 1 --server-metrics "$url/metrics" --server-metrics-formats json jsonl
seq 0 50 1950 | while read -r ms; do
    echo "{\"timestamp\": $ms, \"input_length\": $((40 + ms % 300)), \"output_length\": $((5 + ms % 20)), \"hash_ids\": [$((ms / 50))]}"
done >"$cache/trace.jsonl"
both schedule "${common[@]}" --endpoint-type chat --streaming --input-file "$cache/trace.jsonl" \
    --custom-dataset-type mooncake_trace --fixed-schedule
both users "${common[@]}" --endpoint-type chat --streaming --user-centric-rate 20 --num-users 4 --session-turns-mean 3 \
    --isl 30 --osl 5 --request-count 40
# The original makes all runs that are allowed, whether or not they converge (docs/compatibility.md): three are the least here.
for side in "theirs $cache/venv/bin/aiperf" "ours $cache/aiperf"; do
    rm -rf "$cache/${side%% *}-repeats"
    "${side#* }" profile "${common[@]}" --endpoint-type chat --streaming --concurrency 4 --request-count 40 --isl 100 --osl 20 \
        --extra-inputs ignore_eos:true --warmup-request-count 4 --num-profile-runs 3 --convergence-metric output_sequence_length \
        --artifact-dir "$cache/${side%% *}-repeats" >"$cache/${side%% *}-repeats.log" 2>&1 || true
done
python3 repeats.py "$cache/theirs-repeats" "$cache/ours-repeats" || status=1
python3 keys.py repeats "$cache/theirs-repeats" "$cache/ours-repeats" || status=1
for part in servermetrics gpu analysis; do INTEROP_CACHE=$caches bash $part.sh || status=1; done
exit $status
