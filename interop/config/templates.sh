#!/usr/bin/env bash
# Every template of "aiperf config init" is written with a model and a server, validated as it comes and with them, and
# run for a second against the mock server. Those that cannot run here are listed below with the reason.
#
#   templates.sh          all of it
#   templates.sh quick    what runs in CI: all are written, validated and expanded, every third is run
#
#   INTEROP_CACHE=DIR  where the program is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh config
build
aiperf=$cache/aiperf
mock_server "$cache/mock.log" --ttft 5 --itl 1

declare -A not_run=(
    [public_dataset]='its data set is on a network'
)
# Runs of a sweep. What it varies is run without it.
declare -A sweeps=(
    [scenario_workload_profiles]=5
    [speed_bench_sweep]=11
    [sweep_distributions]=9
    [sweep_with_plot]=9
)

every=1
[ "${1:-}" != quick ] || every=3

rm -rf "$cache/templates"
mkdir "$cache/templates"
cd "$cache/templates"
names=$("$aiperf" config init --list | awk '/^  / && $1 != "Name" {print $1}')
[ "$(wc -w <<<"$names")" = 27 ]
number=0
for name in $names; do
    number=$((number + 1))
    mkdir "$name"
    cd "$name"
    "$aiperf" config init -t "$name" >as_it_comes.yaml 2>/dev/null
    logged validate.log "$aiperf" config validate as_it_comes.yaml
    "$aiperf" config init -t "$name" -m mock-model -u "$url" -o bench.yaml >/dev/null
    logged validate.log "$aiperf" config validate bench.yaml
    "$aiperf" config expand bench.yaml >expanded.txt
    runs=$(grep -c '^\[' expanded.txt)
    if [ "$runs" != "${sweeps[$name]:-1}" ]; then
        echo "$name: $runs runs, want ${sweeps[$name]:-1}" >&2
        exit 1
    fi
    file=bench.yaml
    if [ -n "${sweeps[$name]:-}" ]; then
        sed '/^sweep:/,$d' bench.yaml >base.yaml
        file=base.yaml
    fi
    if [ -n "${not_run[$name]:-}" ]; then
        echo "$name: not run: ${not_run[$name]}"
    elif [ $((number % every)) != 0 ] && [ "$name" != user_files ]; then # its files are read below
        echo "$name: valid"
    else
        bounds=(--benchmark-duration 1 --benchmark-grace-period 20)
        if grep -q '^    - name: warmup' bench.yaml; then bounds+=(--warmup-request-count 4); fi
        logged run.log "$aiperf" profile --config "$file" --tokenizer builtin --ui none "${bounds[@]}"
        figures=$(find artifacts -name profile_export_aiperf.json -not -path '*/phases/*')
        python3 - "$figures" "$name" <<'PYTHON'
import json, sys
figures, name = sys.argv[1:]
got = json.load(open(figures))
assert name in figures, figures
assert got["request_count"]["avg"] > 0 and not got.get("error_request_count"), got["request_count"]
print(f'{name}: {got["request_count"]["avg"]:.0f} requests')
PYTHON
    fi
    cd ..
done
grep -q 'inference-team measured mock-model' user_files/artifacts/user_files/notes/README.md
python3 -c 'import json; assert json.load(open("user_files/artifacts/user_files/run.json"))["model"] == "mock-model"'
