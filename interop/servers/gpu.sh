#!/usr/bin/env bash
# The same check against vLLM, for a machine with a GPU: installs vLLM, serves the tiny random model, and compares counts,
# vLLM's own counters, latencies and warnings (check.py). Not part of quick or full.
#
#   INTEROP_CACHE=DIR  where environments and models are kept (default: a directory that is removed)
#   VLLM=PACKAGE       what is installed (default: vllm)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh servers-gpu
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_HOME=$cache/hf VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
venv "${VLLM:-vllm}"
python=$cache/venv/bin/python
[ -f "$cache/tiny/model.safetensors" ] || {
    "$python" make_tokenizer.py "$cache/tiny"
    "$python" make_llama.py "$cache/tiny"
}
build
port=$(free_port)
start "$cache/vllm.log" "$cache/venv/bin/vllm" serve "$cache/tiny" --served-model-name tiny --host 127.0.0.1 --port "$port" \
    --max-model-len 2048 --gpu-memory-utilization 0.3 --no-enable-prefix-caching
patience=600 wait_for answers "http://127.0.0.1:$port/v1/models"
for mode in '' --accept; do
    rm -rf "$cache/runs"
    mkdir -p "$cache/runs"
    "$python" check.py vllm --aiperf "$cache/aiperf" --url "127.0.0.1:$port" --tokenizer "$cache/tiny" --work "$cache/runs" \
        $mode
done
"$python" -c '
from importlib.metadata import version
for name in ("vllm", "torch", "transformers"):
    print(name, version(name))'
