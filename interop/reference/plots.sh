#!/usr/bin/env bash
# Compares the points of aiperf plot with those of the original, on the same folders: a run with time slices and GPUs,
# several runs, the means of a sweep's trials, the trials themselves. Ours are read from the metadata of the SVG files;
# those of the original from the figures that it hands to Plotly's export, which plotly_dump writes as JSON in place of
# pictures. The files are made with the fields and in the layout that the original reads.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
export HOME=$cache/plots-home
work=$cache/plots
rm -rf "$work" "$HOME"
mkdir -p "$work" "$HOME"
mock_server "$cache/plots-server.log" --ttft-jitter-cv 0.4 --scheduler-enabled
common=(--url "$url" --endpoint-type chat --streaming --tokenizer builtin --ui none --random-seed 3
    --gpu-telemetry "$url/dcgm1/metrics" --isl 60)
profile() { logged "$work/log" "$cache/aiperf" profile "${common[@]}" "$@"; }
profile --model mock-model --concurrency 8 --request-count 120 --osl 50 --osl-stddev 15 --slice-duration 1 \
    --artifact-dir "$work/one"
for model in a b; do
    for users in 2 4 8; do
        profile --model "mock-$model" --concurrency "$users" --request-count 30 --osl "$([ $model = a ] && echo 20 || echo 40)" \
            --artifact-dir "$work/several/${model}_c$users"
    done
done
profile --model mock-model --concurrency 1,2,4 --request-count 20 --osl 20 --osl-stddev 5 --num-profile-runs 3 \
    --artifact-dir "$work/sweep"

compare() { # NAME PATH...
    local name=$1
    shift
    mkdir -p "$work/$name-original"
    PYTHONPATH=$PWD/plotly_dump PLOT_DUMP=$work/$name-original logged "$work/log" "$cache/venv/bin/aiperf" plot "$@" \
        --config plots.yaml --output "$work/$name-pictures"
    logged "$work/log" "$cache/aiperf" plot "$@" --config plots.yaml --format svg --output "$work/$name-ours"
    "$cache/venv/bin/python" plots.py "$name" "$work/$name-original" "$work/$name-ours"
}
compare one "$work/one"
compare several "$work/several"
compare sweep "$work/sweep"
compare trials "$work/sweep/profile_runs"
