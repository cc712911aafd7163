#!/usr/bin/env bash
# Reads GPUs through stub libraries of NVML and AMD SMI, which are compiled here: known values, readings that are not
# supported, a library that hangs, one that crashes, one without GPUs; then nvidia-smi and amd-smi as scripts in the
# place of the helper. Whatever a library does, the run's requests are all there.
#
#   INTEROP_CACHE=DIR  where the programs are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh gpu
command -v gcc >/dev/null || { echo "interop/gpu: gcc is missing; the check is left out"; exit 0; }
build ./cmd/aiperf ./cmd/aiperf-gpu
mkdir -p "$cache/lib" "$cache/alone" "$cache/smi"
gcc -shared -fPIC -Wall -Wextra -o "$cache/lib/libnvidia-ml.so.1" nvml.c
gcc -shared -fPIC -Wall -Wextra -o "$cache/lib/libamd_smi.so" amd_smi.c
cp -f "$cache/aiperf" "$cache/alone/aiperf" # without the helper beside it
install -m 755 nvidia-smi amd-smi "$cache/smi/"

mock_server "$cache/server.log" --ttft 50 --itl 5

export AIPERF_GPU_COLLECTION_INTERVAL=0.1
status=0
# profile NAME PROGRAM COLLECTOR [VARIABLE=VALUE...] runs a benchmark of two seconds and checks its files.
profile() {
    local name=$1 program=$2 collector=$3 code=0
    shift 3
    rm -rf "$cache/$name"
    env "$@" "$program" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics \
        --streaming --concurrency 2 --request-count 26 --isl 20 --osl 20 --extra-inputs ignore_eos:true \
        --gpu-telemetry "$collector" --artifact-dir "$cache/$name" >"$cache/$name.log" 2>&1 || code=$?
    python3 check.py "$name" "$cache/$name" "$cache/$name.log" "$code" || status=1
}
with=LD_LIBRARY_PATH=$cache/lib
profile nvml "$cache/aiperf" pynvml "$with"
profile nvml-lost-gpu "$cache/aiperf" pynvml "$with" STUB_GPUS=3
profile nvml-hang "$cache/aiperf" pynvml "$with" STUB_HANG_AFTER=12
profile nvml-crash "$cache/aiperf" pynvml "$with" STUB_CRASH_AFTER=12
profile nvml-none "$cache/aiperf" pynvml "$with" STUB_GPUS=0
profile nvml-no-driver "$cache/aiperf" pynvml "$with" STUB_INIT=9
profile amdsmi "$cache/aiperf" amdsmi "$with"
profile amdsmi-new "$cache/aiperf" amdsmi "$with" STUB_LAYOUT=new STUB_MILLIDEGREES=1
profile nvidia-smi "$cache/alone/aiperf" pynvml "PATH=$cache/smi:$PATH"
profile nvidia-smi-old "$cache/alone/aiperf" pynvml "PATH=$cache/smi:$PATH" STUB_OLD=1
profile amd-smi "$cache/alone/aiperf" amdsmi "PATH=$cache/smi:$PATH"
exit $status
