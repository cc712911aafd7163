#!/usr/bin/env bash
# Benchmarks servers that nobody here wrote, with tiny random models made here, and compares the program's figures with
# the servers' own, with another tokenizer library and with a plain client. See check.py for what is asserted.
#
#   bash check.sh [llama llama-embeddings transformers litellm litserve]    all of them without arguments
#   bash check.sh quick                                                     a part of llama's, in a minute
#
#   INTEROP_CACHE=DIR  where environments and models are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
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

# start NAME COMMAND... starts a server by pid and waits until its port answers on the path $ready.
start() {
    local name=$1 pid
    shift
    # A process group of its own: some servers have processes that outlive them.
    set -m
    "$@" >"$cache/$name.log" 2>&1 &
    pid=$!
    set +m
    on_exit "kill -KILL -- -$pid 2>/dev/null"
    for _ in $(seq 240); do
        curl -sf -o /dev/null "http://127.0.0.1:$port$ready" && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.5
    done
    echo "$name does not answer:" >&2
    tail -20 "$cache/$name.log" >&2
    exit 1
}

# compare NAME [OPTION...] runs the check against the server on $port.
compare() {
    rm -rf "$cache/runs/$1"
    mkdir -p "$cache/runs/$1"
    "$cache/llama/venv/bin/python" check.py "$1" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" --tokenizer "$cache/tiny" \
        --work "$cache/runs/$1" "${@:2}"
}

# The environment of llama.cpp also makes the tokenizer and runs the check.
environment llama xllamacpp==2026.10.11549 gguf==0.19.0 tokenizers==0.23.3
[ -f "$cache/tiny.gguf" ] || {
    "$cache/llama/venv/bin/python" make_tokenizer.py "$cache/tiny"
    "$cache/llama/venv/bin/python" make_gguf.py "$cache/tiny" "$cache/tiny.gguf"
}
build

# model leaves the tiny model for servers that read Hugging Face directories in $cache/tiny.
model() {
    environment transformers torch==2.15.0 transformers==5.23.0 accelerate==1.15.0 fastapi==0.165.0 uvicorn openai
    [ -f "$cache/tiny/model.safetensors" ] || "$cache/transformers/venv/bin/python" make_llama.py "$cache/tiny"
}

[ $# -gt 0 ] || set -- llama llama-embeddings transformers litellm litserve
for name; do
    echo "$name"
    port=$(free_port)
    ready=/v1/models
    case $name in
    llama)
        start llama "$cache/llama/venv/bin/python" llama.py "$cache/tiny.gguf" "$port"
        compare llama
        compare llama --accept
        ;;
    quick)
        start llama "$cache/llama/venv/bin/python" llama.py "$cache/tiny.gguf" "$port"
        compare llama --brief
        ;;
    llama-embeddings)
        start llama-embeddings "$cache/llama/venv/bin/python" llama.py "$cache/tiny.gguf" "$port" embeddings
        compare llama-embeddings
        ;;
    transformers)
        model
        ready=/health
        start transformers "$cache/transformers/venv/bin/transformers" serve "$cache/tiny" --host 127.0.0.1 --port "$port" --device cpu
        compare transformers --model "$cache/tiny"
        ;;
    litellm)
        environment litellm 'litellm[proxy]==1.106.2'
        ready=/health
        own=$port
        start mock "$cache/aiperf" mock-server --port "$port" --ttft 20 --itl 2 --model mock-model
        port=$(free_port)
        cat >"$cache/litellm.yaml" <<EOF
model_list:
  - model_name: tiny
    litellm_params: {model: openai/mock-model, api_base: "http://127.0.0.1:$own/v1", api_key: none}
general_settings: {master_key: sk-tiny}
EOF
        ready=/health/liveliness
        start litellm "$cache/litellm/venv/bin/litellm" --config "$cache/litellm.yaml" --host 127.0.0.1 --port "$port"
        compare litellm
        ;;
    litserve)
        environment litserve litserve==0.2.19
        ready=/health
        start litserve "$cache/litserve/venv/bin/python" litserve_app.py "$port"
        compare litserve
        ;;
    *)
        echo "there is no server $name" >&2
        exit 2
        ;;
    esac
done
