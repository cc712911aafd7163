#!/usr/bin/env bash
# The program for Windows under Wine, as processes: the demo, a run against our server on Linux and one from Linux against
# the server on Windows, a report, the self-test, Ctrl-C once and twice. The files of its runs are read by the same check as
# those of Linux (interop/exports/read.py), and are recomputed on both systems. docs/windows.md says what this cannot show.
#
#   INTEROP_CACHE=DIR  where the programs, the prefix and the runs are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh windows
. wine.sh
venv pandas polars duckdb pyarrow
build
(cd ../.. && GOOS=windows CGO_ENABLED=0 go build -o "$cache/aiperf.exe" ./cmd/aiperf)
GOOS=windows CGO_ENABLED=0 go build -o "$cache/console.exe" console.go
rm -rf "$cache/runs"
mkdir -p "$cache/runs"
cd "$cache/runs"

# The demo, with one failed request in ten.
logged demo.log "$wine" ../aiperf.exe demo --ui none --export-level raw --export-http-trace --artifact-dir demo \
    --header 'X-Mock-Fault:status=503;rate=0.1'
"$cache/venv/bin/python" "$root/interop/exports/read.py" demo

# A run against our server on Linux and the same one against the server on Windows; each server counts the requests.
flags=(--model m --tokenizer builtin --ui none --endpoint-type chat --streaming --concurrency 6 --isl 40 --isl-stddev 9
    --osl 12 --osl-stddev 3 --extra-inputs ignore_eos:true --random-seed 3 --no-server-metrics --no-gpu-telemetry)
mock_server linux.log --ttft 20 --itl 4 --record-requests linux.jsonl
linux=$url
logged from-windows.log "$wine" ../aiperf.exe profile "${flags[@]}" --request-count 150 --url "$linux" --artifact-dir from-windows
stop
start windows.log "$wine" "$cache/aiperf.exe" mock-server --port 0 --ttft 20 --itl 4 --record-requests windows.jsonl \
    --record-events
wait_for grep -q 'listening on http://' windows.log
url=$(grep -o 'listening on http://[0-9.:]*' windows.log | grep -o 'http://.*')
logged from-linux.log "$cache/aiperf" profile "${flags[@]}" --request-count 150 --url "$url" --artifact-dir from-linux

# Ctrl-C once: exit code 0 and a whole report; twice: 130.
for keys in c cc; do
    "$wine" ../console.exe $keys "$keys/profile_export.jsonl" "$keys.log" ../aiperf.exe profile "${flags[@]}" --url "$url" \
        --request-count 100000 --artifact-dir $keys | tr -d '\r' >"$keys.code"
done

# Nobody listens: the same error as on Linux.
stop
for system in windows linux; do
    program=("$wine" ../aiperf.exe)
    [ $system = windows ] || program=("$cache/aiperf")
    "${program[@]}" profile "${flags[@]}" --request-count 150 --url "$url" --artifact-dir refused-$system >refused-$system.log 2>&1 || true
done

# The reports of the same records on both systems.
logged report-windows.log "$wine" ../aiperf.exe report from-windows --output-dir report-windows
logged report-linux.log "$cache/aiperf" report from-windows --output-dir report-linux

logged selftest.log "$wine" ../aiperf.exe selftest --quick --json selftest.json
python3 "$root/interop/windows/check.py" .
