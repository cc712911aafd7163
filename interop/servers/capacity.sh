#!/usr/bin/env bash
# aiperf capacity three times against llama.cpp's server, which has eight slots: the answers must be the same inside of
# their intervals, and hold the number of slots. A ninth request waits for a slot, so that its time to first token is
# several times the limit; the noise of the machine is small against that.
#
#   INTEROP_CACHE=DIR  where the environment and the model are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh servers
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1

all=$cache
cache=$all/llama
mkdir -p "$cache"
venv xllamacpp==2026.10.11549 gguf==0.19.0 tokenizers==0.23.3 pyarrow
python=$cache/venv/bin/python
cache=$all
[ -f "$cache/tiny.gguf" ] || {
    "$python" make_tokenizer.py "$cache/tiny"
    "$python" make_gguf.py "$cache/tiny" "$cache/tiny.gguf"
}
build

# Other processes of a busy machine must not look like the server's limit.
first=()
! chrt -r 5 true 2>/dev/null || first=(chrt -r 5)
port=$(free_port)
start "$cache/llama.log" "${first[@]}" "$python" llama.py "$cache/tiny.gguf" "$port"
wait_for answers "http://127.0.0.1:$port/v1/models"

for run in 1 2 3; do
    rm -rf "$cache/capacity-$run"
    logged "$cache/capacity-$run.log" "${first[@]}" "$cache/aiperf" capacity --url "127.0.0.1:$port" --model tiny \
        --tokenizer builtin --endpoint-type chat --ttft p95:100 --max 64 --budget 3m --isl 40 --osl 128 \
        --extra-inputs ignore_eos:true --extra-inputs cache_prompt:false --ui none --artifact-dir "$cache/capacity-$run"
    grep -h '^Probe\|Answer:\|Spent:' "$cache/capacity-$run.log"
done
python3 - "$cache"/capacity-{1,2,3} <<'PYTHON'
import json
import sys

found = [json.load(open(f"{d}/search_history.json"))["boundary_summary"] for d in sys.argv[1:]]
for one in found:
    ends = one["interval"]
    print(f"concurrency {one['estimate']:g}, 95 %: {ends['lo']:g} to {ends['hi']:g}; {one['probes']} probes, "
          f"{one['client_limited_probes']} limited by the client, {one['measured_seconds']:.0f} s measured")
    assert one["bound_first"] == "time_to_first_token:p95:le:100.0", one["bound_first"]
    assert ends["lo"] <= 8 <= ends["hi"], "the interval does not hold the number of slots"
    for other in found:
        assert ends["lo"] <= other["estimate"] <= ends["hi"], "the answers differ by more than their intervals"
PYTHON
