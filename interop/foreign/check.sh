#!/usr/bin/env bash
# Runs other load generators, installed from PyPI, and aiperf against the same mock server, and compares what aiperf reads
# of their results with its own figures: vllm bench serve and sweep, SGLang's bench_serving, GuideLLM, GenAI-Perf,
# inference-perf, and llm-d's converter of results of vLLM and GuideLLM. llm-d's own package reads the reports that aiperf
# writes. The files are left in $cache/results, and without texts and paths in $cache/testdata, of which
# internal/result/foreign/testdata is a copy.
#
#   check.sh [TOOL…]   guidellm genai-perf inference-perf llm-d vllm sglang (default: all). vllm needs 6 GB, and shares the
#                      installation of interop/servers; sglang runs in it, with its own files alone
#
# What PyPI lacks is replaced: perf_analyzer by the script of that name, and sglang's server code, which its benchmark
# imports, by three lines.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh foreign
. ../servers/vllm.sh
here=$PWD
[ $# -gt 0 ] || set -- guidellm genai-perf inference-perf vllm sglang llm-d
build
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
results=$cache/results
rm -rf "$results" "$cache/testdata"
mkdir -p "$results"

# tool NAME PACKAGE... makes a virtual environment for a tool and leaves its programs' folder in $bin.
tool() {
    local home=$cache
    cache=$home/$1
    mkdir -p "$cache"
    [ -x "$cache/venv/bin/python" ] || "$(python_3_12)" -m venv --without-pip "$cache/venv"
    venv "${@:2}"
    bin=$cache/venv/bin
    cache=$home
}

# quiet COMMAND... runs a tool in the folder of the results, with its output in a log that is shown if it fails.
quiet() { (cd "$results" && logged "$cache/tool.log" timeout 300 "$@"); }

tool llm-d 'llmd-benchmark-report==0.2.1' pandas tokenizers==0.23.3
llmd=$bin
tiny=$cache/tiny
[ -d "$tiny" ] || "$bin/python" ../servers/make_tokenizer.py "$tiny"
mock_server "$cache/server.log" --ttft 20 --itl 5 --tokenizer "$tiny"

run_guidellm() {
    tool guidellm 'guidellm==0.8.1'
    quiet "$bin/guidellm" run --backend "kind=openai_http,target=$url,model=mock-model" --profile kind=concurrent \
        --override profile.streams 1,4 --constraint kind=max_requests,count=24 --tokenizer "kind=hf_auto,model=$tiny" \
        --data kind=synthetic_text,prompt_tokens=64,output_tokens=16 --disable-console \
        --output "kind=json,path=guidellm/benchmarks.json" --output "kind=yaml,path=guidellm/benchmarks.yaml"
    "$cache/aiperf" compare "$results/guidellm/benchmarks.json" "$results/guidellm/benchmarks.yaml" --fail-on-worse |
        grep -q '^concurrency=4 *no difference'
}

run_genai_perf() {
    tool genai-perf 'genai-perf==0.0.16'
    mkdir -p "$results/genai"
    PATH=$here:$PATH quiet "$bin/genai-perf" profile -m mock-model -u "${url#http://}" --endpoint-type chat --streaming \
        --concurrency 4 --request-count 40 --synthetic-input-tokens-mean 64 --output-tokens-mean 16 --tokenizer "$tiny" \
        --artifact-dir genai
    mkdir -p "$results/genai-perf"
    mv "$results"/genai/*/profile_export*.json "$results/genai-perf/"
    rm -r "$results/genai"
}

run_inference_perf() {
    tool inference-perf 'inference-perf==0.7.0'
    sed "s|@URL@|$url|; s|@TOKENIZER@|$tiny|" inference-perf.yaml >"$cache/inference-perf.yaml"
    quiet "$bin/inference-perf" -c "$cache/inference-perf.yaml"
    rm -f "$results/inference-perf/validation.json"
}

# vllm_bench leaves the folder of vLLM's programs in $vllm. The check of servers installs it.
vllm_bench() {
    vllm=$caches/servers/vllm/venv/bin
    [ -x "$vllm/vllm" ] || INTEROP_CACHE=$caches bash ../servers/check.sh quick vllm
    # What its sweeps summarize with is no dependency of it.
    "$vllm/python" -c 'import pandas' 2>/dev/null ||
        logged "$cache/uv.log" "$caches/uv/bin/uv" pip install -q --native-tls --python "$vllm/python" pandas
}

run_vllm() {
    vllm_bench
    local bench=("$vllm/vllm" bench serve --backend openai-chat --endpoint /v1/chat/completions --base-url "$url"
        --model mock-model --tokenizer "$tiny" --dataset-name random --random-input-len 64 --random-output-len 16
        --ignore-eos)
    quiet "${bench[@]}" --num-prompts 40 --max-concurrency 4 --save-result --result-dir vllm --result-filename vllm.json \
        --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99 --goodput ttft:200
    quiet "${bench[@]}" --num-prompts 20 --max-concurrency 4 --save-result --save-detailed --result-dir vllm \
        --result-filename detailed.json
    quiet "${bench[@]}" --num-prompts 20 --request-rate 20 --save-result --result-dir vllm --result-filename rate.json
    echo '[{"max_concurrency": 1}, {"max_concurrency": 4}]' >"$cache/loads.json"
    # A server that is there already: the sweep starts a command that only waits.
    printf '#!/bin/sh\nexec sleep 600\n' >"$cache/waits"
    chmod +x "$cache/waits"
    local address=${url#http://}
    quiet "$vllm/vllm" bench sweep serve --serve-cmd "$cache/waits --host ${address%:*} --port ${address#*:}" \
        --bench-cmd "${bench[*]} --num-prompts 16" --bench-params "$cache/loads.json" --num-runs 2 --after-bench-cmd true \
        -o sweep
    mv "$results"/sweep/* "$results/vllm-sweep"
    rmdir "$results/sweep"
    "$cache/aiperf" compare "$results/vllm-sweep" "$results/vllm-sweep" | grep -q '^concurrency=4 *no difference'
}

run_sglang() {
    vllm_bench
    local from=$cache/sglang
    if [ ! -d "$from/sglang/benchmark" ]; then
        mkdir -p "$from"
        "$(python_3_12)" -m pip download -q --no-deps -d "$from" 'sglang==0.5.23'
        (cd "$from" && python3 -m zipfile -e sglang-*.whl whole && mkdir sglang &&
            cp -r whole/sglang/benchmark whole/sglang/bench_serving.py sglang/ && rm -r whole sglang-*.whl)
        mkdir -p "$from/sglang/srt/disaggregation" "$from/sglang/srt/utils"
        touch "$from"/sglang/{,srt/,srt/disaggregation/,srt/utils/}__init__.py
        echo 'FAKE_BOOTSTRAP_HOST = ""' >"$from/sglang/srt/disaggregation/utils.py"
        printf 'def %s(base_url, host, port): return base_url\n' resolve_base_url resolve_host_port \
            >"$from/sglang/srt/utils/network.py"
        printf 'from transformers import AutoTokenizer\n\n\ndef get_tokenizer(name, **_): return AutoTokenizer.from_pretrained(name)\n' \
            >"$from/sglang/srt/utils/hf_transformers_utils.py"
        echo 'load_dataset = None' >"$from/datasets.py"
        "$caches/uv/bin/uv" pip install -q --native-tls --target "$from" --python "$vllm/python" orjson
    fi
    mkdir -p "$results/sglang"
    local bench=("$vllm/python" -m sglang.bench_serving --backend sglang-oai-chat --base-url "$url" --model mock-model
        --tokenizer "$tiny" --dataset-name random-ids --random-input-len 64 --random-output-len 16 --random-range-ratio 1
        --num-prompts 16)
    for n in 1 4; do
        PYTHONPATH=$from quiet "${bench[@]}" --max-concurrency "$n" --output-file sglang/sglang.jsonl
    done
    PYTHONPATH=$from quiet "${bench[@]}" --request-rate 20 --output-details --output-file sglang/details.jsonl
}

run_llm_d() {
    mkdir -p "$results/llm-d"
    if [ -e "$results/vllm/vllm.json" ]; then
        for version in 0.1 0.2.1; do
            quiet "$llmd/benchmark-report" -f -w vllm-benchmark -b $version vllm/vllm.json "llm-d/vllm-${version%.1}.yaml"
        done
        mv "$results/llm-d/vllm-0.yaml" "$results/llm-d/vllm-0.1.yaml"
        "$cache/aiperf" compare "$results/vllm/vllm.json" "$results/llm-d/vllm-0.2.yaml" --format json |
            python3 -c 'import json, sys
for f in json.load(sys.stdin)["comparisons"][0]["figures"]:
    assert f["base"] == f["new"], f'
    fi
    if [ -e "$results/guidellm/benchmarks.json" ]; then
        quiet "$llmd/benchmark-report" -f -w guidellm -b 0.2.1 guidellm/benchmarks.json llm-d/guidellm-0.2.yaml
    fi
}

"$cache/aiperf" profile --url "$url" --model mock-model --tokenizer "$tiny" --streaming --isl 64 --osl 16 \
    --extra-inputs ignore_eos:true --concurrency 4 --request-count 40 --num-dataset-entries 40 --ui none \
    --artifact-dir "$cache/ours" >"$cache/ours.log" 2>&1
for name in "$@"; do "run_${name//-/_}"; done

"$cache/aiperf" report "$cache/ours" --format llm-d --output-dir "$cache/report"
"$cache/aiperf" report "$cache/ours" --format llm-d-json --output-dir "$cache/report"
"$llmd/python" reports.py "$cache/ours/profile_export_aiperf.json" "$cache/report"/benchmark_report_v0.2.*
compared=()
for name in guidellm/benchmarks.json#1 guidellm/benchmarks.json#2 genai-perf genai-perf/profile_export.json \
    inference-perf/stage_0_lifecycle_metrics.json inference-perf/per_request_lifecycle_metrics.json vllm/vllm.json \
    vllm/detailed.json vllm/rate.json sglang/sglang.jsonl#2 sglang/details.jsonl llm-d/vllm-0.1.yaml llm-d/vllm-0.2.yaml; do
    [ ! -e "$results/${name%#*}" ] || compared+=("$results/$name")
done
python3 check.py "$cache/aiperf" "$cache/ours" "${compared[@]}"
python3 strip.py "$results" "$cache/testdata"
