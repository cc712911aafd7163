#!/usr/bin/env bash
# Verifies the timing of every load mode from outside: what the mock server's log says of the requests that came.
# Takes about a minute.
#
#   check.sh          all of it; a mode that misses a time on a machine that is busy fails
#   check.sh quick    what runs in CI: without two shapes of gamma arrivals and the start of a burst; a mode that misses a
#                     time, and nothing else, while the machine delays other processes too is named and does not fail
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh load
build
(cd "$root" && go build -o "$cache/verify" ./interop/load/{verify,modes}.go)
timeout 600 "$cache/verify" "$cache/aiperf" "$cache" "${1:-full}"
