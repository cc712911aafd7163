#!/usr/bin/env bash
# Collects the metrics of real exporters, Debian's prometheus-node-exporter and prometheus, during a run against the
# mock server, and checks all four files against pages read by hand before and after the run.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh server-metrics
debian prometheus prometheus
debian prometheus-node-exporter prometheus-node-exporter
venv pandas polars duckdb pyarrow
build
mock_server "$cache/mock.log" --ttft 10 --itl 1

node=127.0.0.1:$(free_port)
start "$cache/node.log" prometheus-node-exporter --web.listen-address "$node"
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
start "$cache/prometheus.log" prometheus --config.file "$cache/prometheus.yml" --storage.tsdb.path "$cache/tsdb" \
    --web.listen-address "$prometheus"
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
logged "$cache/run.log" "$cache/aiperf" profile --model mock-model --tokenizer builtin --ui none --endpoint-type chat --streaming \
    --url "$url" --request-rate 20 --request-count 200 --isl 50 --osl 10 --server-metrics "$node,$prometheus" \
    --server-metrics-formats json csv jsonl parquet --artifact-dir "$cache/run/out"
read_pages after.json
"$cache/venv/bin/python" real.py "$cache/run" "$cache/run.log"
