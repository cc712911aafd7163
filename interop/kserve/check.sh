#!/usr/bin/env bash
# Runs Triton's official client package against the mock server, and aiperf against a gRPC server that is made of that
# package's own messages, with counts that must be exact.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh kserve
venv 'tritonclient[grpc]'
build
mock_server "$cache/mock.log" --ttft 5 --itl 1
"$cache/venv/bin/python" check.py "${url#http://}" "$cache/aiperf" "$cache/runs"
