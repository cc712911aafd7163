#!/usr/bin/env bash
# Reads the files of a run with the libraries that their consumers use: pandas, Polars, DuckDB.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh exports
venv pandas polars duckdb pyarrow
build
rm -rf "$cache/run"
"$cache/aiperf" demo --ui none --export-level raw --export-http-trace --artifact-dir "$cache/run" \
    --header 'X-Mock-Fault:status=503;rate=0.1' >"$cache/demo.log" 2>&1 || { cat "$cache/demo.log"; exit 1; }
"$cache/venv/bin/python" read.py "$cache/run"
