#!/usr/bin/env bash
# How fast the tokenizers are compared with the reference library (the package tokenizers) on one thread: prose, and loading.
# Run it on a quiet machine; RUN="chrt -r 10" puts each measurement before what else runs.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh tokenizers
venv tokenizers==0.23.3 tiktoken==0.14.0 sentencepiece==0.2.3 mistral-common==1.13.1 protobuf jinja2
folder=$cache/speed
mkdir -p "$folder"
python=$cache/venv/bin/python
export TOKENIZERS_PARALLELISM=false RAYON_NUM_THREADS=1 AIPERF_TOKENIZER_SPEED=$folder
(cd "$root" && go test -c -o "$cache/load.test" ./internal/workload/tokenizer/load && go test -c -o "$cache/tokenizer.test" ./internal/workload/tokenizer &&
    go test -c -o "$cache/synthetic.test" ./internal/workload/synthetic)
AIPERF_PROSE=$folder/prose.txt "$cache/synthetic.test" -test.run WriteProse >/dev/null
"$python" speed.py make "$folder" "$(ranks)" "$folder/prose.txt"
GOMAXPROCS=1 ${RUN:-} "$cache/load.test" -test.run '^$' -test.bench Speed -test.benchtime 0.5s | tee "$folder/ours.txt"
(cd "$root/internal/workload/tokenizer" && ${RUN:-} "$cache/tokenizer.test" -test.run '^$' -test.bench 'Load$' -test.benchtime 20x) >>"$folder/ours.txt"
${RUN:-} "$python" speed.py compare "$folder" "$folder/ours.txt"
${RUN:-} "$cache/synthetic.test" -test.run '^$' -test.bench Text550 -test.benchtime 4000x | grep Text550
