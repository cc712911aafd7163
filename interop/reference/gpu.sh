#!/usr/bin/env bash
# Runs the original and ours with GPU telemetry against the same DCGM page, whose GPUs have a level load, and compares
# what both say of each GPU.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
mock_server "$cache/gpu-server.log" --ttft 30 --itl 5 --dcgm-load 0:0.2,600:0.8
cat >"$cache/gpu.csv" <<'CSV'
DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)
DCGM_FI_DEV_MEMORY_TEMP, gauge, Memory temperature (in C)
CSV
for who in theirs ours; do
    program=$cache/aiperf
    [ $who = theirs ] && program=$cache/venv/bin/aiperf
    rm -rf "$cache/$who-gpu"
    "$program" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics \
        --endpoint-type chat --streaming --concurrency 2 --request-count 40 --isl 30 --osl 20 --extra-inputs ignore_eos:true \
        --gpu-telemetry "$url/dcgm1/metrics" "$cache/gpu.csv" --artifact-dir "$cache/$who-gpu" >"$cache/$who-gpu.log" 2>&1 || true
done
python3 gpu.py "$cache/theirs-gpu" "$cache/ours-gpu"
