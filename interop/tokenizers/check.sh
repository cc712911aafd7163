#!/usr/bin/env bash
# Holds the built-in vocabulary against tiktoken on 20,000 random texts: every id must agree.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
if [ -n "${INTEROP_CACHE:-}" ]; then
    cache=$INTEROP_CACHE/tokenizers
    mkdir -p "$cache"
else
    cache=$(mktemp -d)
    trap 'rm -rf "$cache"' EXIT
fi
if [ ! -x "$cache/venv/bin/python" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q tiktoken
fi
ranks=$(cd "$cache" && GOFLAGS=-mod=mod go mod download -json github.com/pkoukk/tiktoken-go-loader@v0.0.2 | python3 -c 'import json,sys; print(json.load(sys.stdin)["Dir"])')/assets/o200k_base.tiktoken
"$cache/venv/bin/python" oracle.py "$ranks" --count 20000 --seed "${SEED:-7}" >"$cache/expected.jsonl"
cd "$root"
AIPERF_TOKENIZER_VECTORS=$cache/expected.jsonl go test -count=1 -run Oracle -v ./internal/tokenizer
