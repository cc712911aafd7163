# NVIDIA Dynamo: its frontend and its simulated engine, "mocker", which has the scheduler and the KV cache of vLLM. Sourced
# by check.sh. Neither etcd nor NATS is needed: workers are found in a directory and events go through ZMQ.
export DYN_EVENT_PLANE=zmq DYN_REQUEST_PLANE=tcp DYN_TCP_RPC_HOST=127.0.0.1 DYN_DISCOVERY_BACKEND=file

# dynamo_model leaves in $cache/dynamo/tiny what Dynamo reads of a model: a tokenizer and a configuration, no weights.
dynamo_model() {
    [ -f "$cache/dynamo/tiny/config.json" ] || {
        cp -r "$cache/tiny" "$cache/dynamo/tiny"
        rm -f "$cache/dynamo/tiny/model.safetensors"
        cat >"$cache/dynamo/tiny/generation_config.json" <<<'{"eos_token_id": 2, "bos_token_id": 0, "pad_token_id": 0}'
        cat >"$cache/dynamo/tiny/config.json" <<'EOF'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4096, "hidden_size": 256,
 "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
 "max_position_embeddings": 4096, "bos_token_id": 0, "eos_token_id": 2, "torch_dtype": "float32"}
EOF
    }
}

# frontend [OPTION...] starts a frontend without workers, on a new port: it cannot take its last one again for a minute.
frontend() {
    port=$(free_port) dynamo_pages=() dynamo_pids=()
    export DYN_FILE_KV=$cache/dynamo/store
    rm -rf "$DYN_FILE_KV"
    mkdir "$DYN_FILE_KV"
    start "$cache/dynamo-frontend.log" "$cache/dynamo/venv/bin/python" -P -m dynamo.frontend --http-host 127.0.0.1 \
        --http-port "$port" "$@"
    dynamo_pids+=("$server")
    dynamo_pages+=(--page "http://127.0.0.1:$port/metrics")
}

# worker [OPTION...] starts a worker, and waits until it has a page.
worker() {
    DYN_SYSTEM_PORT=$(low_port)
    export DYN_SYSTEM_PORT
    start "$cache/dynamo-worker${#dynamo_pids[@]}.log" "$cache/dynamo/venv/bin/python" -P -m dynamo.mocker \
        --model-path "$cache/dynamo/tiny" --model-name tiny --num-gpu-blocks-override 4096 --block-size 16 "$@"
    dynamo_pids+=("$server")
    dynamo_pages+=(--page "http://127.0.0.1:$DYN_SYSTEM_PORT/metrics")
    wait_for answers "http://127.0.0.1:$DYN_SYSTEM_PORT/metrics"
}

# low_port prints a port that is not in use and that fits in Dynamo's 16 bits with a sign.
low_port() {
    python3 -c '
import random, socket
while True:
    port = random.randrange(12000, 32000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}

ready() { wait_for lists_model "http://127.0.0.1:$port/v1/models"; }

end_dynamo() {
    local pid
    for pid in "${dynamo_pids[@]}"; do stop "$pid"; done
}

# dynamo_case NAME [OPTION...] runs a case of dynamo_cases.py against what was started.
dynamo_case() {
    judge "dynamo: $1" "$python" dynamo_cases.py "$1" --aiperf "$cache/aiperf" --url "127.0.0.1:$port" --tokenizer "$cache/tiny" \
        --work "$cache/runs" "${dynamo_pages[@]}" "${@:2}"
}

dynamo() {
    requirements dynamo
    dynamo_model

    frontend
    worker
    ready
    dynamo_case fresh
    dynamo_case nagle
    judge 'dynamo: check' compare dynamo "${dynamo_pages[@]}" $brief
    end_dynamo

    frontend
    worker --max-num-seqs 2
    ready
    dynamo_case queue
    end_dynamo

    frontend
    export DYN_ENGINE_REQUEST_LIMIT=4 DYN_DYNAMO_REQUEST_QUEUE_LIMIT=4
    worker --max-num-seqs 4
    unset DYN_ENGINE_REQUEST_LIMIT DYN_DYNAMO_REQUEST_QUEUE_LIMIT
    ready
    dynamo_case overload
    dynamo_case killed --pid "$server"
    end_dynamo
    [ -z "$brief" ] || return 0

    frontend --router-mode kv
    worker
    worker
    ready
    judge 'dynamo: two workers with the KV router' compare dynamo "${dynamo_pages[@]}" --brief
    end_dynamo

    frontend --router-mode kv
    worker --disaggregation-mode decode
    worker --disaggregation-mode prefill --bootstrap-ports "$(low_port)"
    ready
    judge 'dynamo: prefill and decode apart' compare dynamo "${dynamo_pages[@]}" --brief
    end_dynamo

    frontend
    worker --max-num-seqs 8
    ready
    dynamo_case capacity
    end_dynamo
}
