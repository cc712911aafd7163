#!/usr/bin/env bash
# Runs the official client packages of OpenAI, Anthropic, Cohere and Hugging Face against the mock server:
# each must read every reply and stream of its API, with the counts that the server says it made; the requests of
# aiperf must be requests of those packages, and the golden conversations replies of theirs.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh sdk
venv openai anthropic cohere huggingface_hub
build
mock_server "$cache/mock.log" --ttft 5 --itl 1 --video-latency 50
"$cache/venv/bin/python" conversations.py ../../internal/wire/endpoint/testdata/conversations
"$cache/venv/bin/python" check.py "$url"

# The other way round: what aiperf sends is what the packages would send.
mock_server "$cache/mock.log" --fast --record-requests "$cache/requests.jsonl" --record-bodies
for type in chat completions responses messages embeddings image_generation; do
    conversation=(--num-sessions 2 --session-turns-mean 2 --shared-system-prompt-length 10)
    case $type in completions | embeddings | image_generation) conversation=(--request-count 2) ;; esac
    for streaming in "" --streaming; do
        # shellcheck disable=SC2086
        logged "$cache/run.log" "$cache/aiperf" profile --model m --tokenizer builtin --endpoint-type $type $streaming \
            --url "$url" --isl 12 --osl 5 "${conversation[@]}" --ui none --no-server-metrics --artifact-dir "$cache/run"
    done
done
stop # it writes the rest of its record
"$cache/venv/bin/python" bodies.py "$cache/requests.jsonl"
