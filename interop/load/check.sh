#!/usr/bin/env bash
# Verifies the timing of every load mode from outside: what the mock server's log says of the requests that came.
# Takes about a minute.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh load
build
(cd "$root" && CGO_ENABLED=0 go build -o "$cache/verify" ./interop/load/{verify,modes}.go)
timeout 300 "$cache/verify" "$cache/aiperf" "$cache"
