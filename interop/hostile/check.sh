#!/usr/bin/env bash
# Runs the program against hostile servers and inputs of our own: no dump, no escape sequence on the terminal, the
# exit code that is due, bounded time and memory, nothing written outside. `check.sh full` makes every attack, which
# takes some five minutes; without it those that end soon are made. Linux only.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh hostile
build
(cd "$root" && go build -o "$cache/hostile" ./interop/hostile/{main,cases,servers,http2,recorder}.go)
timeout 900 "$cache/hostile" "$cache/aiperf" "$cache" "${1:-quick}"
