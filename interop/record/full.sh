#!/usr/bin/env bash
# Everything of check.sh with all attacks; then aiperf record in front of real servers, vLLM on the processor and NVIDIA
# Dynamo, driven by the packages of OpenAI and Anthropic, an agent of several turns, and vllm bench serve. The recording is
# replayed against the same server: prefix cache hit rate by the server's own counters within 2 points, mean lengths within
# 1 %, arrivals. What is installed is shared with servers/check.sh.
#
#   bash full.sh [NAME...]    check, vllm, dynamo; all of them without arguments
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh servers
all=$cache work=$cache/record failed=()
rm -rf "$work"
mkdir -p "$work"
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_HOME=$cache/hf DO_NOT_TRACK=1
build

# What servers/vllm.sh and servers/dynamo.sh want of the script that reads them.
environment() {
    cache=$all/$1
    venv "${@:2}"
    cache=$all
}
requirements() {
    local packages
    mapfile -t packages < <(grep -v '^#' "../servers/requirements/$1.txt")
    environment "$1" --no-deps "${packages[@]}"
}
lists_model() { python3 -c 'import sys, urllib.request; assert b"tiny" in urllib.request.urlopen(sys.argv[1], timeout=2).read()' "$1"; }

# recorder NAME UPSTREAM starts a recorder and leaves its address in $url.
recorder() {
    start "$work/$1.log" "$all/aiperf" record --upstream "$2" --listen 127.0.0.1:0 --out "$work/$1" --tokenizer "$all/tiny"
    wait_for grep -q 'clients use ' "$work/$1.log"
    url=$(sed -n 's/.*clients use \([^ ]*\) .*/\1/p' "$work/$1.log")
}

# counters PAGE prints the hits and the queries of the prefix cache, in tokens.
counters() {
    python3 -c '
import re, sys, urllib.request
page = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
total = lambda name: sum(float(v) for v in re.findall(r"^" + name + r"\{.*\} (\S+)$", page, re.M))
print(total(r"vllm:prefix_cache_hits(?:_total)?"), total(r"vllm:prefix_cache_queries(?:_total)?"))' "$1"
}
# since A B C D prints what counters A B have grown by when they are C D.
since() { python3 -c 'import sys; a, b, c, d = map(float, sys.argv[1:]); print(f"{c-a}/{d-b}")' "$@"; }

# twin NAME SERVER PAGE records traffic in front of a server, replays it, and compares; PAGE "" = what its replies say of
# cached tokens counts.
twin() {
    local before between after recorded hits=()
    [ -z "$3" ] || before=$(counters "$3")
    recorder "$1" "$2"
    recorded=$server
    logged "$work/$1-traffic.log" "$caches/sdk/venv/bin/python" traffic.py "$url" tiny 1 $([ "$1" != vllm ] || echo messages)
    if [ "$1" = vllm ]; then
        logged "$work/$1-bench.log" "$all/vllm/venv/bin/vllm" bench serve --backend vllm --base-url "$url" --model tiny \
            --tokenizer "$all/tiny" --dataset-name random --random-input-len 200 --random-output-len 12 \
            --random-prefix-len 256 --num-prompts 40 --request-rate 3 --ignore-eos
    fi
    stop "$recorded"
    tail -n 8 "$work/$1.log"
    [ -z "$3" ] || between=$(counters "$3")
    recorder "$1-replay" "$2"
    logged "$work/$1-profile.log" "$all/aiperf" profile --model tiny --tokenizer "$all/tiny" --url "$url" --streaming \
        --input-file "$work/$1/mooncake_trace.jsonl" --custom-dataset-type mooncake_trace --isl-block-size 16 \
        --fixed-schedule --fixed-schedule-auto-offset --extra-inputs ignore_eos:true --ui none --no-server-metrics \
        --artifact-dir "$work/$1-run" --request-timeout-seconds 600
    stop
    if [ -n "$3" ]; then
        after=$(counters "$3")
        # shellcheck disable=SC2086 # pairs of numbers
        hits=("$(since $before $between)" "$(since $between $after)")
    fi
    python3 twin.py "$1" "$work/$1" "$work/$1-replay" "${hits[@]}" || failed+=("$1")
}

[ $# -gt 0 ] || set -- check vllm dynamo
for name; do
    echo "$name"
    case $name in
    check)
        INTEROP_AIPERF=$all/aiperf INTEROP_CACHE=$caches bash check.sh || failed+=(check)
        continue
        ;;
    esac
    cache=$caches/sdk
    venv openai anthropic cohere huggingface_hub
    cache=$all
    environment llama xllamacpp==2026.10.11549 gguf==0.19.0 tokenizers==0.23.3 pyarrow
    [ -f "$all/tiny/tokenizer.json" ] || "$all/llama/venv/bin/python" ../servers/make_tokenizer.py "$all/tiny"
    cd ../servers
    # shellcheck source=/dev/null
    . "./$name.sh"
    case $name in
    vllm)
        install_vllm
        cd "$here"
        port=${VLLM_PORT:-}
        if [ -z "$port" ]; then
            port=$(free_port)
            start "$work/vllm-server.log" env PATH="$all/vllm/venv/bin:$PATH" "$all/vllm/venv/bin/vllm" serve "$all/tiny" \
                --served-model-name tiny --host 127.0.0.1 --port "$port" --dtype bfloat16 --max-model-len 2048 \
                --max-num-seqs 16 --enforce-eager --enable-prefix-caching --block-size 32 --chat-template template.jinja \
                --enable-auto-tool-choice --tool-call-parser hermes
            patience=900 wait_for answers "http://127.0.0.1:$port/health"
        fi
        twin vllm "http://127.0.0.1:$port" "http://127.0.0.1:$port/metrics"
        ;;
    dynamo)
        requirements dynamo
        dynamo_model
        cd "$here"
        # Its model's template has the tools of a request, too.
        cp -r "$all/dynamo/tiny" "$work/tiny"
        python3 - "$work/tiny/tokenizer_config.json" <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))
config["chat_template"] = open("template.jinja").read().rstrip()
json.dump(config, open(sys.argv[1], "w"))
PYTHON
        frontend
        worker --model-path "$work/tiny"
        ready
        twin dynamo "http://127.0.0.1:$port" ""
        end_dynamo
        ;;
    esac
done
[ ${#failed[@]} = 0 ] || {
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
}
