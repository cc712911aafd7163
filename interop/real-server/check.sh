#!/usr/bin/env bash
# Benchmarks llama-cpp-python's server, which nobody here wrote, with a tiny random model, and holds our
# token counts against the server's own usage. Building the server takes some ten minutes the first time.
#
#   INTEROP_CACHE=DIR  where the virtual environment and the model are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh real-server
export CMAKE_ARGS=-DGGML_NATIVE=OFF
venv 'llama-cpp-python[server]==0.3.36' 'gguf==0.19.0'
[ -f "$cache/tiny.gguf" ] || "$cache/venv/bin/python" make_model.py "$(ranks)" "$cache/tiny.gguf"
build
port=$(free_port)
"$cache/venv/bin/python" -m llama_cpp.server --model "$cache/tiny.gguf" --n_ctx 2048 --host 127.0.0.1 --port "$port" \
    --interrupt_requests false >"$cache/server.log" 2>&1 &
on_exit "kill $!"
for _ in $(seq 60); do
    curl -sf "http://127.0.0.1:$port/v1/models" >/dev/null && break
    sleep 1
done

for endpoint in chat completions; do
    for streaming in '' --streaming; do
        run=$cache/run-$endpoint$streaming
        rm -rf "$run"
        "$cache/aiperf" profile --model tiny --tokenizer builtin --url "127.0.0.1:$port" --endpoint-type "$endpoint" $streaming \
            --use-legacy-max-tokens --concurrency 8 --request-count 40 --isl 100 --osl 32 --random-seed 1 --ui none \
            --artifact-dir "$run" >"$run.log" 2>&1 || { cat "$run.log"; exit 1; }
        "$cache/venv/bin/python" compare.py "$endpoint" "${streaming:-unary}" "$run"
    done
done
