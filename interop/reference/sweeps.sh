#!/usr/bin/env bash
# Sweeps of ours in three ways and two searches against a mock server; pandas loads their JSON and CSV files, and the
# original, installed from PyPI as a black box, reads them: its plot command the folders, its own reader the checkpoints.
# The other way round, the original sweeps with one trial and with two, and our compare and gate read its files. Then
# both make the same sweeps and searches, and leave the same files with the same keys.
#
#   INTEROP_CACHE=DIR       where the virtual environment is kept (default: a directory that is removed)
#   ONLY=ours|theirs|both   one part alone
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
export PYTHONDONTWRITEBYTECODE=1
build

work=$cache/sweeps
rm -rf "$work"
mkdir -p "$work/ours" "$work/theirs"
cd "$work"
mock_server server.log --ttft 5 --itl 1

failed=0
# sweep PROGRAM DIR FLAGS...: a sweep of one of the programs, which must succeed.
sweep() {
    local program=$1 dir=$2
    shift 2
    timeout 600 "$program" profile --model mock-model --tokenizer builtin --url "$url" --endpoint-type chat --streaming --isl 20 --osl 6 \
        --request-count 8 --ui none --no-server-metrics --no-gpu-telemetry --artifact-dir "$dir" "$@" >"$dir.log" 2>&1 ||
        { echo "$dir: exit code $?"; tail -5 "$dir.log"; failed=1; }
}
# runs WHAT COMMAND...: a command that must not fail.
runs() {
    local what=$1
    shift
    timeout 300 "$@" >"$what.out" 2>&1 || { echo "$what: $*: exit code $?"; tail -5 "$what.out"; failed=1; }
}

# tiers FILE: the configuration of a search for the limits of two tiers, the first of which nothing meets.
tiers() {
    cat >"$1" <<YAML
sweep:
  type: adaptive_search
  planner: smooth_isotonic
  search_space: [{path: phases.profiling.concurrency, lo: 1, hi: 3, kind: int}]
  objectives: [{metric: output_token_throughput, direction: maximize}]
  sla_tiers:
    - {label: gold, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 0.001}]}
    - {label: silver, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 6000}]}
  max_iterations: 6
  sla_warmup_seconds: 0
benchmark:
  models: {items: [{name: mock-model}]}
  tokenizer: {name: builtin}
  endpoint: {urls: ["$url"], streaming: true, type: chat}
  datasets: [{name: main, type: synthetic, prompts: {isl: 20, osl: 6}, entries: 20}]
  phases: [{name: profiling, kind: profiling, type: concurrency, concurrency: 1, requests: 8}]
YAML
}

if [ "${ONLY:-ours}" = ours ]; then
    ours() { sweep "$cache/aiperf" "ours/$@"; }
    ours one --concurrency 1,2,4
    ours repeated --concurrency 1,2 --num-profile-runs 3
    ours independent --concurrency 1,2 --request-rate 50,100 --num-profile-runs 2 --parameter-sweep-mode independent \
        --pareto-objectives request_latency:p99:min,concurrency:avg:max
    "$cache/venv/bin/python" "$root/interop/reference/sweeps.py" ours/one/sweep_aggregate ours/repeated/aggregate/sweep_aggregate \
        ours/independent/sweep_aggregate || failed=1
    ours bayesian --search-space concurrency:1,4:int --search-metric output_token_throughput --search-direction maximize \
        --search-max-iterations 3 --search-initial-points 2 --search-sla time_to_first_token:p95:lt:5000
    tiers ours/tiers.yaml
    ours tiers --config ours/tiers.yaml
    "$cache/venv/bin/python" "$root/interop/reference/searches.py" ours/bayesian ours/tiers || failed=1
    for run in one repeated independent; do
        runs "plot-$run" "$cache/venv/bin/aiperf" plot "ours/$run" --output "plots/$run"
    done
fi

if [ "${ONLY:-theirs}" = theirs ]; then
    theirs() { sweep "$cache/venv/bin/aiperf" "theirs/$@"; }
    theirs one --concurrency 1,2
    theirs two --concurrency 1,2 --num-profile-runs 2
    for run in one two; do
        runs "compare-$run" "$cache/aiperf" compare "theirs/$run" theirs/two --metrics request_latency,request_throughput
        runs "gate-$run" "$cache/aiperf" gate "theirs/$run" --fail-if 'request_latency:p99>60s' --fail-if 'max_concurrency<2' \
            --fail-if 'max_request_throughput<0.001'
        grep -q '^concurrency 2' "compare-$run.out" || { echo "compare-$run: no cell 2"; failed=1; }
    done
    [ $failed = 1 ] || echo "sweeps: our compare and gate read the original's sweeps"
fi

if [ "${ONLY:-both}" = both ]; then
    both() {
        local name=$1
        shift
        sweep "$cache/aiperf" "ours/both-$name" "$@"
        sweep "$cache/venv/bin/aiperf" "theirs/both-$name" "$@"
        python3 "$root/interop/reference/sweepkeys.py" "$name" "theirs/both-$name" "ours/both-$name" || failed=1
    }
    both one --concurrency 1,2
    both zip --concurrency 1,2 --request-rate 20,50 --sweep-type zip
    both independent --concurrency 1,2 --num-profile-runs 2 --parameter-sweep-mode independent
    both variant --variant "few: concurrency=1" --variant "concurrency=2,isl-stddev=1"
    both search --search-space concurrency:1,4:int --search-metric output_token_throughput --search-direction maximize \
        --search-max-iterations 3 --search-initial-points 2 --search-random-seed 1 --search-sla time_to_first_token:p95:lt:5000
    both ramp --search-recipe concurrency-ramp --concurrency-max 4 --concurrency-steps 3
    tiers both.yaml
    both tiers --config both.yaml
fi
exit $failed
