#!/usr/bin/env bash
# Benchmarks HTTP servers that nobody here wrote, over every connection strategy, streaming and not:
# uvicorn, hypercorn, aiohttp, node, Go's net/http, and nginx before the mock server.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: every server and every strategy, not each with each
#
#   INTEROP_CACHE=DIR  where the virtual environment and nginx are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh http
venv uvicorn hypercorn starlette aiohttp
nginx=$(command -v nginx || true)
if [ -z "$nginx" ]; then
    # The package's program alone: nothing is installed and no service is started.
    nginx=$cache/nginx/usr/sbin/nginx
    if [ ! -x "$nginx" ]; then
        (cd "$cache" && apt-get download -q nginx >/dev/null 2>&1 || (apt-get update -q >/dev/null && apt-get download -q nginx >/dev/null))
        dpkg-deb -x "$cache"/nginx_*.deb "$cache/nginx"
    fi
fi
build
go build -o "$cache/server" server.go
python3 check.py "$cache/aiperf" "$cache" "$nginx" "${1:-}"
