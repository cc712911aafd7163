#!/usr/bin/env bash
# Opens HTML reports in a real browser: of a run with everything, of the same run computed again, of a run whose requests
# all failed; and the pages of a sweep and of a capacity that the tests make. Needs node, npm and a browser, Debian's of
# which it installs where it may. Screenshots and prints are left in $cache/shots (INTEROP_CACHE keeps them).
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: every report in one view that is used and in one other
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh html
browser
cp check.mjs "$cache/"
build
cd "$cache"
rm -rf run failed shots
mock_server mock.log --ttft 40 --itl 6 --ttft-jitter-cv 0.5 --itl-jitter-cv 0.3 --max-batch 16 --dcgm-auto-load --random-seed 1
common=(--tokenizer builtin --url "$url" --endpoint-type chat --ui none --html-report --random-seed 42)
logged run.log ./aiperf profile --model 'org/<b>model</b>' "${common[@]}" --streaming --request-rate 50 --benchmark-duration 8 \
    --warmup-request-count 40 --isl 128 --osl 30 --goodput 'time_to_first_token:150' --slice-duration 2 \
    --fail-if 'time_to_first_token:p99>9s' --gpu-telemetry "$url/dcgm1/metrics" \
    --header 'X-Mock-Fault:status=503;rate=0.05' --artifact-dir run
./aiperf report run --html --from 2 --to 6 >/dev/null
./aiperf profile --model m "${common[@]}" --request-count 10 --header 'X-Mock-Fault:status=500' --no-server-metrics \
    --artifact-dir failed >failed.log 2>&1 || true
mkdir -p pages
(cd "$root" && SWEEP_PAGES=$cache/pages go test -count=1 -run 'Page' ./internal/result/report/html >/dev/null)
node check.mjs "$chromium" shots "${1:-full}" "full=run/profile_export_aiperf.html" "part=run/report/profile_export_aiperf.html" \
    "failed!=failed/profile_export_aiperf.html" "sweep~=pages/sweep.html" "capacity~=pages/capacity.html" \
    "names~=pages/names.html"
