#!/usr/bin/env bash
# Opens the live page of a run and of a sweep in a real browser while they go on: widths, themes, keyboard, the figures
# against the API, WebSocket, the end of a run. Needs node, npm and a browser, Debian's of which it installs where it may.
# Screenshots are left in $cache/shots (INTEROP_CACHE keeps them).
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: the run at the smallest width, dark, and the largest, light; the sweep at the latter
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh web
browser
cp check.mjs "$cache/"
build
cd "$cache"
rm -rf run sweep shots
mock_server mock.log --ttft 40 --itl 6 --ttft-jitter-cv 0.5 --itl-jitter-cv 0.3 --max-batch 16 --dcgm-auto-load --random-seed 1
common=(--tokenizer builtin --url "$url" --endpoint-type chat --streaming --ui none --isl 100 --osl 20 --html-report
    --random-seed 42 --gpu-telemetry "$url/dcgm1/metrics" "$url/dcgm2/metrics")
seconds=5
[ "${1:-}" != quick ] || seconds=3
export AIPERF_API_SERVER_POST_COMPLETE_GRACE=120

# page LOG prints the address of the live page.
page() { grep -o 'Live page: .*' "$1" | grep -o 'http://.*'; }

start run.log ./aiperf profile --model 'org/<b>model</b>' "${common[@]}" --request-rate 25 --benchmark-duration 600 \
    --warmup-request-count 30 --goodput 'time_to_first_token:80' --header 'X-Mock-Fault:status=503;rate=0.03' \
    --artifact-dir run --web 0 --api-port "$(free_port)"
run=$server
wait_for grep -q 'Live page:' run.log
start sweep.log ./aiperf profile --model m "${common[@]}" --concurrency 1,2,4 --benchmark-duration "$seconds" --artifact-dir sweep --web :0
wait_for grep -q 'Live page:' sweep.log
node check.mjs "$chromium" shots "${1:-full}" "$(page run.log)" "$run" "$(page sweep.log)"
