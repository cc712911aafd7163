#!/usr/bin/env bash
# Benchmarks servers that nobody here wrote, with tiny random models made here, and compares the program's figures with
# the servers' own, with another tokenizer library and with a plain client. See check.py for what is asserted.
#
#   bash check.sh [NAME...]          the servers that are named; all of them without arguments
#   bash check.sh quick [NAME...]    a part of each; llama's without arguments
#
#   llama, llama-embeddings    llama.cpp's HTTP server
#   transformers               transformers serve
#   litellm, litserve          a proxy and an application server
#   dynamo                     NVIDIA Dynamo: frontend, KV router, prefill and decode apart, with its simulated engine
#   triton                     NVIDIA Triton over HTTP and gRPC
#   routers                    the routers of SGLang and vLLM in front of mock servers
#   vllm                       vLLM on the processor (Python 3.12; 6 GB)
#   infinity                   embeddings and rerankers (6 GB)
#
# Python packages are those of requirements/, in exactly these versions.
#
#   INTEROP_CACHE=DIR  where environments and models are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh servers
all=$cache
# One thread for a model: threads that wait for one another make no headway on a busy machine.
export OMP_NUM_THREADS=1
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_HOME=$cache/hf DO_NOT_TRACK=1

# environment NAME PACKAGE... is a virtual environment of a server's own, left in $cache/venv.
environment() {
    cache=$all/$1
    venv "${@:2}"
    cache=$all
}

# serve NAME COMMAND... starts a server and waits until its port answers on the path $ready.
serve() {
    start "$cache/$1.log" "${@:2}"
    wait_for answers "http://127.0.0.1:$port$ready"
}

# requirements NAME installs the packages of requirements/NAME.txt, those and no others, into $cache/NAME/venv.
requirements() {
    local packages
    mapfile -t packages < <(grep -v '^#' "requirements/$1.txt")
    environment "$1" --no-deps "${packages[@]}"
}

# judge NAME COMMAND... runs a check. One that fails does not stop those after it: $failed has its name.
failed=()
judge() {
    "${@:2}" || failed+=("$1")
}

# lists_model URL reports whether a list of models has the tiny one.
lists_model() { python3 -c 'import sys, urllib.request; assert b"tiny" in urllib.request.urlopen(sys.argv[1], timeout=2).read()' "$1"; }

# compare NAME [OPTION...] runs the check against the server on $port.
compare() {
    rm -rf "$cache/runs/$1"
    mkdir -p "$cache/runs/$1"
    "$python" check.py "$1" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" --tokenizer "$cache/tiny" \
        --work "$cache/runs/$1" "${@:2}"
}

# phased NAME runs a configuration file of several phases against the server on $port, and adds its figures up.
phased() {
    rm -rf "$cache/runs/$1-phases"
    mkdir -p "$cache/runs/$1-phases"
    cd "$cache/runs/$1-phases"
    cat >bench.yaml <<EOF
variables: {users: 4}
benchmark:
  model: tiny
  endpoint: {url: "http://127.0.0.1:$port", streaming: true}
  tokenizer: {name: "$cache/tiny"}
  dataset: {entries: 20, isl: {mean: 40, median: 30, max: 80}, osl: 8}
  artifacts: {dir: out}
  phases:
    - {name: warmup, type: concurrency, requests: 4}
    - {name: steady, kind: profiling, type: poisson, rate: 10, requests: 12}
    - {name: peak, kind: profiling, type: concurrency, concurrency: "{{ users * 2 }}", requests: 20, seamless: true}
EOF
    "$cache/aiperf" config validate bench.yaml
    logged run.log "$cache/aiperf" profile --config bench.yaml --ui none
    python3 - <<'PYTHON'
import json
whole = json.load(open("out/profile_export_aiperf.json"))
phases = json.load(open("out/phase_manifest.json"))["phases"]
counts = {p["phase_name"]: (p["successful_request_count"], p["error_request_count"]) for p in phases}
assert counts == {"warmup": (4, 0), "steady": (12, 0), "peak": (20, 0)}, counts
parts = [json.load(open("out/" + p["metrics_json"])) for p in phases if p["phase_kind"] == "profiling"]
for tag, stat in (("request_count", "avg"), ("total_output_tokens", "avg"), ("total_isl", "avg")):
    assert whole[tag][stat] == sum(p[tag][stat] for p in parts), tag
records = [json.loads(line) for line in open("out/profile_export.jsonl")]
assert len(records) == 32, len(records)
lengths = [r["metrics"]["input_sequence_length"]["value"] for r in records]
assert max(lengths) > min(lengths), lengths
print(f"phases of a file: {counts}, {whole['total_output_tokens']['avg']:.0f} tokens")
PYTHON
    cd "$here"
}

# The environment of llama.cpp also makes the tokenizer and runs the check.
environment llama xllamacpp==2026.10.11549 gguf==0.19.0 tokenizers==0.23.3 pyarrow
python=$cache/llama/venv/bin/python
[ -f "$cache/tiny.gguf" ] || {
    "$python" make_tokenizer.py "$cache/tiny"
    "$python" make_gguf.py "$cache/tiny" "$cache/tiny.gguf"
}
build

# model leaves the tiny model for servers that read Hugging Face directories in $cache/tiny.
model() {
    environment transformers torch==2.15.0 transformers==5.23.0 accelerate==1.15.0 fastapi==0.165.0 uvicorn openai
    [ -f "$cache/tiny/model.safetensors" ] || "$cache/transformers/venv/bin/python" make_llama.py "$cache/tiny"
}

brief=
if [ "${1:-}" = quick ]; then
    brief=--brief
    shift
    [ $# -gt 0 ] || set -- llama
fi
[ $# -gt 0 ] || set -- llama llama-embeddings transformers litellm litserve dynamo triton routers vllm infinity
for name; do
    echo "$name"
    port=$(free_port)
    ready=/v1/models
    case $name in
    llama)
        serve llama "$cache/llama/venv/bin/python" llama.py "$cache/tiny.gguf" "$port"
        compare llama $brief
        [ -n "$brief" ] || compare llama --accept
        phased llama
        ;;
    llama-embeddings)
        serve llama-embeddings "$cache/llama/venv/bin/python" llama.py "$cache/tiny.gguf" "$port" embeddings
        compare llama-embeddings
        ;;
    transformers)
        model
        ready=/health
        serve transformers "$cache/transformers/venv/bin/transformers" serve "$cache/tiny" --host 127.0.0.1 --port "$port" \
            --device cpu
        compare transformers --model "$cache/tiny"
        ;;
    litellm)
        environment litellm 'litellm[proxy]==1.106.2'
        mock_server "$cache/mock.log" --ttft 20 --itl 2 --model mock-model
        cat >"$cache/litellm.yaml" <<EOF
model_list:
  - model_name: tiny
    litellm_params: {model: openai/mock-model, api_base: "$url/v1", api_key: none}
general_settings: {master_key: sk-tiny}
EOF
        ready=/health/liveliness
        serve litellm "$cache/litellm/venv/bin/litellm" --config "$cache/litellm.yaml" --host 127.0.0.1 --port "$port"
        compare litellm
        ;;
    litserve)
        environment litserve litserve==0.2.19
        ready=/health
        serve litserve "$cache/litserve/venv/bin/python" litserve_app.py "$port"
        compare litserve
        ;;
    dynamo | triton | routers | vllm | infinity)
        # shellcheck source=/dev/null
        . "./$name.sh"
        "$name"
        ;;
    *)
        echo "there is no server $name" >&2
        exit 2
        ;;
    esac
done
if [ ${#failed[@]} != 0 ]; then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
