#!/usr/bin/env bash
# Lets the program search the load of 20 mock servers that can be saturated, each with a capacity of its own, and
# compares what it finds with a simulation. Takes about five minutes.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh load
build
(cd "$root" && go build -o "$cache/adaptive" ./interop/load/adaptive.go)
timeout 1800 "$cache/adaptive" "$cache/aiperf" "$cache" "${RUNS:-20}"
