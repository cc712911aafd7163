#!/usr/bin/env bash
# Reads the files of a run with the libraries that their consumers use: pandas, Polars, DuckDB, jq.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
if [ -n "${INTEROP_CACHE:-}" ]; then
    cache=$INTEROP_CACHE/exports
    mkdir -p "$cache"
else
    cache=$(mktemp -d)
    trap 'rm -rf "$cache"' EXIT
fi
if [ ! -x "$cache/venv/bin/python" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q pandas polars duckdb pyarrow
fi
(cd "$root" && CGO_ENABLED=0 go build -o "$cache/aiperf" ./cmd/aiperf)
rm -rf "$cache/run"
"$cache/aiperf" demo --ui none --export-level raw --export-http-trace --artifact-dir "$cache/run" \
    --header 'X-Mock-Fault:status=503;rate=0.1' >"$cache/demo.log" 2>&1 || { cat "$cache/demo.log"; exit 1; }
"$cache/venv/bin/python" read.py "$cache/run"
