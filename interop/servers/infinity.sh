# infinity, a server of embeddings and rerankers, with two tiny BERTs made here. Sourced by check.sh.
export INFINITY_ANONYMOUS_USAGE_STATS=0

infinity() {
    local home=$cache/infinity case
    requirements infinity
    [ -f "$home/rerank/config.json" ] || {
        "$home/venv/bin/python" make_bert.py "$cache/tiny" "$home/embed" embed
        "$home/venv/bin/python" make_bert.py "$cache/tiny" "$home/rerank" rerank
    }
    start "$cache/infinity.log" "$home/venv/bin/infinity_emb" v2 --host 127.0.0.1 --port "$port" --url-prefix /v1 \
        --model-id "$home/embed" --served-model-name tiny --model-id "$home/rerank" --served-model-name rerank \
        --engine torch --device cpu --dtype float32 --no-bettertransformer --no-model-warmup
    patience=300 wait_for answers "http://127.0.0.1:$port/v1/models"
    judge 'infinity: embeddings' compare infinity --page "http://127.0.0.1:$port/metrics" $brief
    for case in rankings missing; do
        judge "infinity: $case" "$python" infinity_cases.py "$case" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" \
            --tokenizer "$cache/tiny" --work "$cache/runs" --page "http://127.0.0.1:$port/metrics"
    done
    stop
}
