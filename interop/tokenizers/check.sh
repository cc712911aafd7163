#!/usr/bin/env bash
# Holds the built-in vocabulary against tiktoken on 20,000 random texts: every id must agree.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh tokenizers
venv tiktoken
"$cache/venv/bin/python" oracle.py "$(ranks)" --count 20000 --seed "${SEED:-7}" >"$cache/expected.jsonl"
cd "$root"
AIPERF_TOKENIZER_VECTORS=$cache/expected.jsonl go test -count=1 -run Oracle -v ./internal/tokenizer
