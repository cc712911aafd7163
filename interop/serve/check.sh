#!/usr/bin/env bash
# Opens aiperf serve in a real browser, on folders of single runs, repeats, a sweep, a failed, a damaged and a hostile run:
# every page at three widths, light and dark, and used by keyboard alone; and the page of aiperf compare --html from the
# disk. Needs node, npm and a browser, Debian's of which it installs where it may. Screenshots are left in $cache/shots
# (INTEROP_CACHE keeps them).
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: every page at the smallest width, light, and the largest, dark
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh serve
browser
cp check.mjs "$cache/"
build
cd "$cache"
rm -rf runs shots comparison.html
mock_server mock.log --ttft 20 --itl 3 --ttft-jitter-cv 0.4 --itl-jitter-cv 0.2 --max-batch 12 --random-seed 1
common=(--tokenizer builtin --url "$url" --endpoint-type chat --ui none --isl 32 --osl 12 --random-seed 42 --no-server-metrics)
for c in 2 8 24; do
    logged run.log ./aiperf profile --model mock-model "${common[@]}" --streaming --concurrency $c --request-count $((40 + 15 * c)) \
        --artifact-dir "runs/load/c$c"
done
logged run.log ./aiperf profile --model 'org/<img src=x onerror=alert(1)>' "${common[@]}" --streaming --request-rate 50 \
    --benchmark-duration 3 --export-level raw --html-report --header 'X-Mock-Fault:status=503;rate=0.1' \
    --artifact-dir 'runs/"><img src=x onerror=alert(2)>'
logged run.log ./aiperf profile --model mock-model "${common[@]}" --concurrency 4 --request-count 40 --artifact-dir runs/unary
logged run.log ./aiperf profile --model mock-model "${common[@]}" --streaming --concurrency 4 --request-count 40 \
    --num-profile-runs 2 --artifact-dir runs/repeats
logged run.log ./aiperf profile --model mock-model "${common[@]}" --streaming --concurrency 2,6 --request-count 40 \
    --num-profile-runs 2 --artifact-dir runs/sweep
./aiperf profile --model bad "${common[@]}" --concurrency 2 --request-count 8 --header 'X-Mock-Fault:status=500' \
    --artifact-dir runs/failed >failed.log 2>&1 || true
mkdir -p runs/damaged runs/none
head -c 300 runs/load/c2/profile_export_aiperf.json >runs/damaged/profile_export_aiperf.json
echo hello >runs/none/readme.txt
before=$(find runs -type f -printf '%p %s %T@\n' | sort | sha256sum)
./aiperf compare runs/load/c2 runs/load/c8 runs/load/c24 --html comparison.html >/dev/null 2>&1
start serve.log ./aiperf serve runs --port 0 --no-cache
wait_for grep -q 'Serving' serve.log
address=$(grep -o 'http://[^ ]*' serve.log | head -n 1)
node check.mjs "$chromium" shots "${1:-full}" "$address" comparison.html
[ "$before" = "$(find runs -type f -printf '%p %s %T@\n' | sort | sha256sum)" ] || { echo "the folders were changed" >&2; exit 1; }
