#!/usr/bin/env bash
# A real Prometheus (Debian's) scrapes the live page of two runs, once as text with classic histograms and once with
# native ones. What it stored, names, types, labels, counts and sums, is held against the summaries of the runs.
# promtool finds nothing to say about the page.
#
#   INTEROP_CACHE=DIR  where the program is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh live
if ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends prometheus >"$cache/apt.log" 2>&1 ||
        { tail "$cache/apt.log"; exit 1; }
fi
build
log=/dev/null

# start COMMAND… starts a server whose output goes to $log and leaves its process in $started.
start() {
    "$@" >"$log" 2>&1 &
    started=$!
    on_exit "kill $started 2>/dev/null; wait $started 2>/dev/null"
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
answers() { python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1"; }
tries() { python3 -c 'import json, sys, urllib.request; sys.exit(0 if "connection refused" in urllib.request.urlopen(sys.argv[1], timeout=2).read().decode() else 1)' "$1"; }

log=$cache/mock.log
start "$cache/aiperf" mock-server --port 0 --ttft 30 --ttft-jitter-cv 0.4 --itl 4 --itl-jitter-cv 0.3 --error-rate 10 --random-seed 5
wait_for grep -q 'listening on' "$log"
url=$(grep -o 'http://.*' "$log")

for kind in classic native; do
    page=127.0.0.1:$(free_port)
    prometheus=127.0.0.1:$(free_port)
    rm -rf "${cache:?}/$kind"
    mkdir "$cache/$kind"
    cat >"$cache/$kind/prometheus.yml" <<CONFIG
scrape_configs:
  - job_name: aiperf
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs: [{targets: ["$page"]}]
CONFIG
    log=$cache/$kind/prometheus.log
    features=()
    [ "$kind" = classic ] || features=(--enable-feature=native-histograms)
    start prometheus --config.file "$cache/$kind/prometheus.yml" --storage.tsdb.path "$cache/$kind/tsdb" --web.listen-address "$prometheus" "${features[@]}"
    wait_for answers "http://$prometheus/-/ready"
    wait_for tries "http://$prometheus/api/v1/targets" # its first scrape comes seconds after its start
    "$cache/aiperf" profile --metrics-listen "$page" --model mock-model --tokenizer builtin --ui none --endpoint-type chat --streaming --url "$url" \
        --request-rate 60 --concurrency 50 --benchmark-duration 5 --benchmark-grace-period 0 --warmup-request-count 10 --isl 40 --osl 25 --random-seed 3 \
        --goodput time_to_first_token:40 --no-server-metrics --no-gpu-telemetry --num-profile-runs 2 --artifact-dir "$cache/$kind/out" >"$cache/$kind/run.log" 2>&1 &
    run=$!
    sleep 3
    python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' "http://$page/metrics" >"$cache/$kind/page.txt"
    promtool check metrics <"$cache/$kind/page.txt"
    wait "$run" || { tail -30 "$cache/$kind/run.log"; exit 1; }
    python3 stored.py "$kind" "http://$prometheus" "$page" "$cache/$kind/out" "$(dirname "$PWD")/../docs/grafana-dashboard.json"
    kill "$started"
done
