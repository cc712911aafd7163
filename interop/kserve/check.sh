#!/usr/bin/env bash
# Runs Triton's official client package against the mock server, and aiperf against a gRPC server that is made of that
# package's own messages, with counts that must be exact.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh kserve
venv 'tritonclient[grpc]'
build
port=$(free_port)
"$cache/aiperf" mock-server --port "$port" --ttft 5 --itl 1 >"$cache/mock.log" 2>&1 &
server=$!
on_exit 'kill $server 2>/dev/null'
for _ in $(seq 100); do
    if python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; then break; fi
    sleep 0.1
done
"$cache/venv/bin/python" check.py "127.0.0.1:$port" "$cache/aiperf" "$cache/runs"
kill $server
wait $server || true
