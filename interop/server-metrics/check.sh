#!/usr/bin/env bash
# Reads our server metrics files with the libraries that their consumers use (pandas, Polars, DuckDB, PyArrow, jq):
# every example of docs/server-metrics.md runs unchanged, and the formats must agree with each other.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh server-metrics
venv pandas polars duckdb pyarrow
rm -rf "$cache/files"
mkdir "$cache/files"
(cd "$root" && AIPERF_SERVER_METRICS_FILES=$cache/files go test -count=1 -run FilesForConsumers \
    ./internal/result/recompute)

# The summary next to them, of the run that the page describes.
build
mock_server "$cache/server.log" --ttft 20 --itl 2
(cd "$cache/files" && logged "$cache/run.log" "$cache/aiperf" profile --model mock-model --tokenizer builtin --url "$url" \
    --streaming --concurrency 10 --request-count 100 --osl 200 --server-metrics-formats json csv jsonl \
    --artifact-dir artifacts/run)

"$cache/venv/bin/python" read.py "$root/docs/server-metrics.md" "$cache/files"
