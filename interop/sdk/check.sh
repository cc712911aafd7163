#!/usr/bin/env bash
# Runs the official client packages of OpenAI, Anthropic, Cohere and Hugging Face against the mock server:
# each must read every reply and stream of its API, with the counts that the server says it made; the requests of
# aiperf must be requests of those packages, and the golden conversations replies of theirs.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh sdk
venv openai anthropic cohere huggingface_hub
build
port=$(free_port)
"$cache/aiperf" mock-server --port "$port" --ttft 5 --itl 1 --video-latency 50 >"$cache/mock.log" 2>&1 &
server=$!
on_exit 'kill $server 2>/dev/null'
for _ in $(seq 100); do
    if python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; then break; fi
    sleep 0.1
done
"$cache/venv/bin/python" conversations.py ../../internal/wire/endpoint/testdata/conversations
"$cache/venv/bin/python" check.py "http://127.0.0.1:$port"
kill $server
wait $server || true

# The other way round: what aiperf sends is what the packages would send.
"$cache/aiperf" mock-server --port "$port" --fast --record-requests "$cache/requests.jsonl" --record-bodies >"$cache/mock.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    if python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; then break; fi
    sleep 0.1
done
for type in chat completions responses messages embeddings image_generation; do
    conversation=(--num-sessions 2 --session-turns-mean 2 --shared-system-prompt-length 10)
    case $type in completions | embeddings | image_generation) conversation=(--request-count 2) ;; esac
    for streaming in "" --streaming; do
        # shellcheck disable=SC2086
        "$cache/aiperf" profile --model m --tokenizer builtin --endpoint-type $type $streaming --url "127.0.0.1:$port" --isl 12 --osl 5 \
            "${conversation[@]}" --ui none --no-server-metrics --artifact-dir "$cache/run" >"$cache/run.log" 2>&1 || { cat "$cache/run.log"; exit 1; }
    done
done
kill $server
wait $server || true
"$cache/venv/bin/python" bodies.py "$cache/requests.jsonl"
