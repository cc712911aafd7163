#!/usr/bin/env bash
# Runs the original and ours with server metrics against the same pages and compares the files of both key by key:
# pages that do not change at all, and pages that change with the requests; then what both make of the same samples.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
python=$cache/venv/bin/python
profile() {
    local who=$1 dir=$2
    shift 2
    rm -rf "$dir"
    logged "$dir.log" "$who" profile --model mock-model --tokenizer builtin --ui none --no-gpu-telemetry --endpoint-type chat \
        --isl 20 --osl 4 --server-metrics-formats json csv jsonl parquet --artifact-dir "$dir" "$@"
}
status=0
common_ours=$cache/aiperf
common_theirs=$cache/venv/bin/aiperf

# The pages of all servers that the mock server knows, frozen after some load.
mock_server "$cache/server-metrics-constant.log" --ttft 5 --itl 1 --backend dynamo --metrics-ports 0 --metrics-fault constant
"$common_ours" profile --model mock-model --tokenizer builtin --ui none --endpoint-type chat --streaming --url "$url" --no-server-metrics \
    --concurrency 5 --request-count 100 --isl 50 --osl 20 --artifact-dir "$cache/server-metrics-load" >/dev/null
wait_for grep -q 'metrics .* on http://' "$log"
mapfile -t pages < <(grep -o 'metrics .* on http://.*' "$log" | grep -o 'http://.*')
for page in vllm sglang prometheus trtllm triton; do pages+=("$url/$page/metrics"); done
for who in theirs ours; do
    program=common_$who
    profile "${!program}" "$cache/$who-server-metrics-constant" --url "$url" --server-metrics "${pages[@]}" --concurrency 1 \
        --request-rate 8 --request-count 12
done
"$python" servermetrics.py constant "$cache/theirs-server-metrics-constant" "$cache/ours-server-metrics-constant" || status=1

# Pages that are a function of the requests so far.
for who in theirs ours; do
    program=common_$who
    start "$cache/$who-server-metrics-pages.log" python3 servermetrics_pages.py
    wait_for grep -q 'http://' "$log"
    url=$(grep -o 'http://.*' "$log")
    profile "${!program}" "$cache/$who-server-metrics-steps" --url "$url" --server-metrics "$url/odd" --concurrency 1 \
        --request-count 7 --slice-duration 1
done
"$python" servermetrics.py steps "$cache/theirs-server-metrics-steps" "$cache/ours-server-metrics-steps" || status=1
"$python" recording.py "$cache/theirs-server-metrics-steps" "$common_ours" || status=1
exit $status
