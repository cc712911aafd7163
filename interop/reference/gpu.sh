#!/usr/bin/env bash
# Runs the original and ours with GPU telemetry against the same DCGM page, whose GPUs have a level load, and compares
# what both say of each GPU. check.sh prepares the directory:
#
#   gpu.sh DIR   with DIR/aiperf, DIR/venv and DIR/tiktoken
set -euo pipefail
cd "$(dirname "$0")"
cache=$1
export TIKTOKEN_CACHE_DIR=$cache/tiktoken
log=$cache/gpu-server.log
: >"$log" # a kept directory has the address of the last run
"$cache/aiperf" mock-server --port 0 --ttft 30 --itl 5 --dcgm-load 0:0.2,600:0.8 >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    grep -q 'http://' "$log" && break
    sleep 0.1
done
url=$(grep -o 'http://.*' "$log" | head -1)
printf 'DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz)\nDCGM_FI_DEV_MEMORY_TEMP, gauge, Memory temperature (in C)\n' >"$cache/gpu.csv"
for who in theirs ours; do
    program=$cache/aiperf
    [ $who = theirs ] && program=$cache/venv/bin/aiperf
    rm -rf "$cache/$who-gpu"
    "$program" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --endpoint-type chat --streaming \
        --concurrency 2 --request-count 40 --isl 30 --osl 20 --extra-inputs ignore_eos:true \
        --gpu-telemetry "$url/dcgm1/metrics" "$cache/gpu.csv" --artifact-dir "$cache/$who-gpu" >"$cache/$who-gpu.log" 2>&1 || true
done
python3 gpu.py "$cache/theirs-gpu" "$cache/ours-gpu"
