#!/usr/bin/env bash
# The original, installed from PyPI as a black box, and ours on the same artifacts: outputs.json of the same benchmark,
# speed-bench-report of the same runs, and each program's pictures of the runs of the other.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
work=$cache/analysis
rm -rf "$work"
mkdir -p "$work"
theirs=$cache/venv/bin/aiperf
ours=$cache/aiperf
mock_server "$work/server.log" --ttft 10 --itl 2

flags=(--model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry
    --endpoint-type chat --streaming --concurrency 3 --num-sessions 6 --session-turns-mean 2 --isl 20 --osl 5
    --warmup-request-count 2 --random-seed 3 --extra-inputs ignore_eos:true
    --header 'X-Mock-Fault:status=503;rate=0.15' --export-level raw)
logged "$work/theirs.log" "$theirs" profile "${flags[@]}" --export-outputs-json --artifact-dir "$work/theirs"
logged "$work/ours.log" "$ours" profile "${flags[@]}" --artifact-dir "$work/ours"
python3 analysis.py outputs "$work/theirs/outputs.json" "$work/ours/outputs.json"

python3 analysis.py runs "$work/runs"
for metric in accept_length accept_rate throughput; do
    for set in qualitative throughput mixed; do
        for program in theirs ours; do
            (cd "$work/runs" && "${!program}" speed-bench-report "$set" --metric "$metric" --format csv \
                --output "$set-$metric-$program.csv" >"$set-$metric-$program.log" 2>&1) || true
        done
        python3 analysis.py matrix "$set" "$metric" "$work/runs/$set-$metric"
    done
done

# Each program draws the runs of the other.
for reader in theirs ours; do
    for run in theirs ours; do
        "${!reader}" analyze swim-lane "$work/$run" --html -o "$work/$run-by-$reader.png" >/dev/null
        "${!reader}" analyze turn-messages "$work/$run" -o "$work/$run-messages-by-$reader.html" >/dev/null
        for file in "$work/$run-by-$reader.png" "$work/$run-by-$reader.html" "$work/$run-messages-by-$reader.html"; do
            [ -s "$file" ] || { echo "analyze: $reader made no $file"; exit 1; }
        done
    done
done
for run in theirs ours; do
    python3 analysis.py pages "$work/$run/profile_export_raw.jsonl" "$work/$run-by-ours.html" "$work/$run-messages-by-ours.html"
done
