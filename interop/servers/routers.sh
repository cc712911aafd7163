# The routers of SGLang and of vLLM, each in front of two mock servers. Sourced by check.sh.

# two_mocks starts two mock servers; $workers has their addresses, $router_pages their pages. They start three seconds apart:
# the start of its process is what tells a page from that of another server.
two_mocks() {
    local n
    workers=() router_pages=()
    for n in 1 2; do
        [ $n = 1 ] || sleep 3
        mock_server "$cache/router-mock$n.log" --ttft 20 --itl 5 --model tiny \
            --tokenizer "$cache/tiny"
        workers+=("$url")
        router_pages+=(--page "$url/metrics")
    done
}

# route NAME PATH COMMAND... starts a router in front of them and waits until it answers on the path.
route() {
    port=$(free_port)
    local own
    own=$(free_port)
    start "$cache/$1.log" "${@:3}" --host 127.0.0.1 --port "$port" --worker-urls "${workers[@]}" --policy round_robin \
        --prometheus-host 127.0.0.1 --prometheus-port "$own"
    wait_for answers "http://127.0.0.1:$port$2"
    wait_for answers "http://127.0.0.1:$own/metrics"
    router_pages+=(--page "http://127.0.0.1:$own/metrics")
}

routers() {
    local bin=$cache/routers/venv/bin
    requirements routers

    two_mocks
    route sglang-router /readiness "$bin/sglang-router" launch
    judge sglang-router compare sglang-router "${router_pages[@]}" $brief
    stop

    two_mocks
    route vllm-router /v1/models "$bin/vllm-router"
    judge 'vllm-router: a page that two servers answer in turn' "$python" routers_cases.py turns --aiperf "$cache/aiperf" \
        --url "127.0.0.1:$port" --tokenizer "$cache/tiny" --work "$cache/runs" "${router_pages[@]}" $brief
    judge vllm-router compare vllm-router "${router_pages[@]}" $brief
    stop
}
