#!/usr/bin/env bash
# Reads the files of a run with the libraries that their consumers use: pandas, Polars, DuckDB; and has a run read files
# of pyarrow.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh exports
venv pandas polars duckdb pyarrow
build
rm -rf "$cache/run"
logged "$cache/demo.log" "$cache/aiperf" demo --ui none --export-level raw --export-http-trace --artifact-dir "$cache/run" \
    --header 'X-Mock-Fault:status=503;rate=0.1'
"$cache/venv/bin/python" read.py "$cache/run"

# The files that only some runs write, a series of runs, a comparison.
"$cache/venv/bin/python" graded.py make "$cache/problems.jsonl" "$cache/replies.jsonl"
mock_server "$cache/server.log" --ttft 20 --itl 2 --dcgm-auto-load --replies "$cache/replies.jsonl"
flags=(--model m --tokenizer builtin --url "$url" --ui none --endpoint-type chat --streaming --concurrency 8 --isl 30
    --osl 10 --extra-inputs ignore_eos:true --random-seed 1 --no-server-metrics)
rm -rf "$cache/further" "$cache/series"
logged "$cache/further.log" "$cache/aiperf" profile "${flags[@]}" --request-count 120 --export-records-parquet --slice-duration 0.2 \
    --percentiles 99.9 --network-latency-automatic --gpu-telemetry "$url/dcgm1/metrics" \
    --header 'X-Mock-Fault:status=503;rate=0.1' --artifact-dir "$cache/further"
logged "$cache/series.log" "$cache/aiperf" profile "${flags[@]}" --request-count 40 --no-gpu-telemetry --num-profile-runs 3 \
    --convergence-metric output_sequence_length --artifact-dir "$cache/series"
"$cache/aiperf" compare "$cache/series/profile_runs/run_0001" "$cache/series/profile_runs/run_0002" --format json \
    >"$cache/comparison.json"
"$cache/venv/bin/python" further.py "$cache/further" "$cache/series" "$cache/comparison.json"

# Graded answers of a run and of a sweep.
graded=(--model m --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry --random-seed 1
    --accuracy-benchmark gsm8k --accuracy-data "$cache/problems.jsonl" --extra-inputs temperature:0)
rm -rf "$cache/graded" "$cache/load"
logged "$cache/graded.log" "$cache/aiperf" profile "${graded[@]}" --concurrency 5 --accuracy-repeats 3 --artifact-dir "$cache/graded"
logged "$cache/load.log" "$cache/aiperf" profile "${graded[@]}" --concurrency 1,16 --artifact-dir "$cache/load"
"$cache/aiperf" compare "$cache/load/concurrency_1" "$cache/load/concurrency_16" --format json >"$cache/answers.json"
"$cache/venv/bin/python" graded.py read "$cache/graded" "$cache/load" "$cache/answers.json"

# Arrow files and streams of pyarrow: every value of every type, and a trace that is replayed.
"$cache/venv/bin/python" arrow.py "$cache/arrow"
(cd ../.. && AIPERF_TEST_ARROW="$cache/arrow" go test ./internal/workload/rows \
    -run TestFilesOfAnotherImplementation -count=1)
rm -rf "$cache/replay"
logged "$cache/replay.log" "$cache/aiperf" profile --model m --tokenizer builtin --url "$url" --ui none --endpoint-type completions \
    --no-server-metrics --no-gpu-telemetry --input-file "$cache/arrow/trace.arrow" --fixed-schedule-auto-offset \
    --artifact-dir "$cache/replay"
[[ $(wc -l <"$cache/replay/profile_export.jsonl") == 3 ]]
