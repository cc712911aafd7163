#!/usr/bin/env bash
# A real Prometheus (Debian's) scrapes the live page of two runs, once as text with classic histograms and once with
# native ones. What it stored, names, types, labels, counts and sums, is compared with the summaries of the runs.
# promtool must not complain about the page.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: the classic histograms
#
#   INTEROP_CACHE=DIR  where the program is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh live
debian promtool prometheus
build

# page URL prints what a GET answers.
page() { python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode(), end="")' "$1"; }
tries() { page "$1" | grep 'connection refused'; }

mock_server "$cache/mock.log" --ttft 30 --ttft-jitter-cv 0.4 --itl 4 --itl-jitter-cv 0.3 --error-rate 10 --random-seed 5

kinds=(classic native)
[ "${1:-}" != quick ] || kinds=(classic)
for kind in "${kinds[@]}"; do
    live=127.0.0.1:$(free_port)
    prometheus=127.0.0.1:$(free_port)
    rm -rf "${cache:?}/$kind"
    mkdir "$cache/$kind"
    cat >"$cache/$kind/prometheus.yml" <<CONFIG
scrape_configs:
  - job_name: aiperf
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs: [{targets: ["$live"]}]
CONFIG
    features=()
    [ "$kind" = classic ] || features=(--enable-feature=native-histograms)
    start "$cache/$kind/prometheus.log" prometheus --config.file "$cache/$kind/prometheus.yml" \
        --storage.tsdb.path "$cache/$kind/tsdb" --web.listen-address "$prometheus" "${features[@]}"
    wait_for answers "http://$prometheus/-/ready"
    wait_for tries "http://$prometheus/api/v1/targets" # its first scrape comes seconds after its start
    logged "$cache/$kind/run.log" "$cache/aiperf" profile --metrics-listen "$live" --model mock-model --tokenizer builtin --ui none \
        --endpoint-type chat --streaming --url "$url" --request-rate 60 --concurrency 50 --benchmark-duration 5 \
        --benchmark-grace-period 0 --warmup-request-count 10 --isl 40 --osl 25 --random-seed 3 \
        --goodput time_to_first_token:40 --no-server-metrics --no-gpu-telemetry --num-profile-runs 2 \
        --artifact-dir "$cache/$kind/out" &
    run=$!
    wait_for answers "http://$live/metrics"
    sleep 2
    page "http://$live/metrics" >"$cache/$kind/page.txt"
    promtool check metrics <"$cache/$kind/page.txt"
    wait "$run"
    python3 stored.py "$kind" "http://$prometheus" "$live" "$cache/$kind/out" "$root/docs/grafana-dashboard.json"
    stop
done
