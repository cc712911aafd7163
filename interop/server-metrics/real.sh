#!/usr/bin/env bash
# Collects the metrics of real exporters, Debian's prometheus-node-exporter and prometheus, beside a run against the
# mock server, and checks all four files against pages read by hand before and after the run.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
if [ -n "${INTEROP_CACHE:-}" ]; then
    cache=$INTEROP_CACHE/server-metrics
    mkdir -p "$cache"
else
    cache=$(mktemp -d)
fi
processes=()
finish() {
    for pid in "${processes[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    [ -n "${INTEROP_CACHE:-}" ] || rm -rf "$cache"
}
trap finish EXIT

if ! command -v prometheus-node-exporter >/dev/null || ! command -v prometheus >/dev/null; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends prometheus prometheus-node-exporter >"$cache/apt.log" 2>&1 ||
        { tail "$cache/apt.log"; exit 1; }
fi
if [ ! -x "$cache/venv/bin/python" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q pandas polars duckdb pyarrow
fi
(cd "$root" && CGO_ENABLED=0 go build -o "$cache/aiperf" ./cmd/aiperf)

# start COMMAND… starts a server whose output goes to $log.
start() {
    "$@" >"$log" 2>&1 &
    processes+=($!)
}
# wait_for COMMAND… waits until it succeeds, ten seconds at most.
wait_for() {
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    cat "$log" >&2
    return 1
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
answers() { python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1"; }

log=$cache/mock.log
start "$cache/aiperf" mock-server --port 0 --ttft 10 --itl 1
wait_for grep -q 'listening on' "$log"
url=$(grep -o 'http://.*' "$log")

node=127.0.0.1:$(free_port)
log=$cache/node.log
start prometheus-node-exporter --web.listen-address "$node"
wait_for answers "http://$node/metrics"

# Prometheus scrapes the node exporter once a second, so that its own metrics move.
prometheus=127.0.0.1:$(free_port)
rm -rf "$cache/tsdb"
cat >"$cache/prometheus.yml" <<CONFIG
scrape_configs:
  - job_name: node
    scrape_interval: 1s
    static_configs: [{targets: ["$node"]}]
CONFIG
log=$cache/prometheus.log
start prometheus --config.file "$cache/prometheus.yml" --storage.tsdb.path "$cache/tsdb" --web.listen-address "$prometheus"
wait_for answers "http://$prometheus/-/ready"

rm -rf "$cache/run"
mkdir "$cache/run"
read_pages() {
    python3 - "$cache/run/$1" "http://$node/metrics" "http://$prometheus/metrics" <<'PYTHON'
import json, sys, time, urllib.request
pages = {url: urllib.request.urlopen(url, timeout=10).read().decode() for url in sys.argv[2:]}
json.dump({"time": time.time(), "pages": pages}, open(sys.argv[1], "w"))
PYTHON
}
read_pages before.json
"$cache/aiperf" profile --model mock-model --tokenizer builtin --ui none --endpoint-type chat --streaming --url "$url" \
    --request-rate 20 --request-count 200 --isl 50 --osl 10 --server-metrics "$node,$prometheus" \
    --server-metrics-formats json csv jsonl parquet --artifact-dir "$cache/run/out" >"$cache/run.log" 2>&1 || { tail "$cache/run.log"; exit 1; }
read_pages after.json
"$cache/venv/bin/python" real.py "$cache/run" "$cache/run.log"
