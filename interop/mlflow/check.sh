#!/usr/bin/env bash
# A real MLflow server, from PyPI, with a database in SQLite: runs are tracked on it and read back by MLflow's own client,
# one of them behind a password. Finally the original does the same run, where it is installed (interop/reference), and the
# keys are compared.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh mlflow
venv 'mlflow==3.17.2'
build

rm -rf "$cache/store" "$cache"/out-* "$cache"/theirs*
mkdir "$cache/store"
port=$(free_port)
tracking=http://127.0.0.1:$port
export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
start "$cache/server.log" "$cache/venv/bin/mlflow" server --backend-store-uri "sqlite:///$cache/store/mlflow.db" \
    --artifacts-destination "$cache/store/files" --host 127.0.0.1 --port "$port" --workers 1
wait_for answers "$tracking/health"
mock_server "$cache/mock.log" --ttft 10 --itl 2

common=(--model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry
    --endpoint-type chat --streaming --isl 50 --osl 10 --mlflow-experiment interop)
run() { # run NAME ARGUMENTS...
    local name=$1
    shift
    logged "$cache/out-$name.log" "$cache/aiperf" profile "${common[@]}" --artifact-dir "$cache/out-$name" "$@"
    if grep -q 'WARNING .*MLflow\|s3cret' "$cache/out-$name.log"; then cat "$cache/out-$name.log"; exit 1; fi
}
check() { "$cache/venv/bin/python" readback.py "$tracking" "$@"; }

run whole --mlflow-tracking-uri "$tracking" --mlflow-tag team:perf,n:1 --request-rate 60 --benchmark-duration 7 \
    --concurrency 50 --warmup-request-count 5 --percentiles 99.9 --export-level raw
check run "$cache/out-whole" live=3
parent=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["run_id"])' "$cache/out-whole/mlflow_export.json")
run child --mlflow-tracking-uri "http://joe:s3cret@127.0.0.1:$port" --mlflow-parent-run-id "$parent" \
    --mlflow-run-name mine --mlflow-artifact-glob '*.txt,logs/**' --request-count 20 --concurrency 4
check run "$cache/out-child" live=1
run series --mlflow-tracking-uri "$tracking" --num-profile-runs 2 --request-count 20 --concurrency 4
for trial in "$cache"/out-series/profile_runs/*/; do check run "$trial" live=1; done

# A run that is cancelled, and one that is deleted under it.
"$cache/aiperf" profile "${common[@]}" --artifact-dir "$cache/out-cancelled" --mlflow-tracking-uri "$tracking" \
    --request-rate 20 --benchmark-duration 60 >"$cache/out-cancelled.log" 2>&1 &
process=$!
sleep 4
kill -INT "$process"
wait "$process" || true
check run "$cache/out-cancelled" live=1 status=KILLED
"$cache/aiperf" profile "${common[@]}" --artifact-dir "$cache/out-deleted" --mlflow-tracking-uri "$tracking" \
    --request-rate 20 --benchmark-duration 8 >"$cache/out-deleted.log" 2>&1 &
process=$!
sleep 4
check delete "$cache/out-deleted.log"
wait "$process" || { cat "$cache/out-deleted.log"; exit 1; }
if [ "$(grep -c 'WARNING .*MLflow' "$cache/out-deleted.log")" != 1 ] ||
    ! grep -q 'it was deleted' "$cache/out-deleted.log"; then
    cat "$cache/out-deleted.log"
    exit 1
fi
printf 'deleted: one line, exit code 0\n'

# The original next to ours.
reference=$(dirname "$cache")/reference
if [ -x "$reference/venv/bin/aiperf" ]; then
    same=(--request-count 40 --concurrency 4 --mlflow-tracking-uri "$tracking" --mlflow-tag team:a perf:1)
    PYTHONPATH=$(echo "$cache"/venv/lib/python*/site-packages) TIKTOKEN_CACHE_DIR=$reference/tiktoken \
        logged "$cache/theirs.log" timeout 150 "$reference/venv/bin/aiperf" profile "${common[@]}" "${same[@]}" \
        --artifact-dir "$cache/theirs"
    run same "${same[@]}"
    check compare "$cache/theirs" "$cache/out-same"
else
    printf 'the original is not installed here: its keys are not compared\n'
fi
