#!/usr/bin/env bash
# Fleets of separate processes: faults whose totals must add up, an outside NATS server (Debian's) with TLS, nkeys and
# tokens, and agents in network namespaces of their own, one of which is cut off by a packet filter. What the machine
# does not allow is named and left out.
#
#   check.sh          all of it, some seven minutes
#   check.sh quick    what runs in CI: an agent that is killed, one that is cut off for a short time, one with a wrong
#                     token; TLS, and the network namespaces
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh fleet
build
debian nats-server nats-server || true
export PATH=$PATH:/usr/sbin
if [ "${1:-}" = quick ]; then
    python3 faults.py "$cache/aiperf" "$cache/faults" killed short_partition wrong_token
else
    python3 faults.py "$cache/aiperf" "$cache/faults"
fi

mock_server "$cache/server.log" --fast
aiperf=$cache/aiperf
cd "$cache"
profile=("$aiperf" profile --model m --url "$url" --tokenizer builtin --request-count 60 --concurrency 4 --osl 4 --isl 16
    --ui none --no-server-metrics --no-gpu-telemetry --random-seed 1 --report short)
total() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["records"] == 60, d; print(sys.argv[2], "60 of 60")' "$1/fleet.json" "$2"; }

if command -v openssl >/dev/null; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
    # The server within the program, with TLS.
    port=$(free_port)
    echo a-token-from-a-file >token
    start coordinator.log "${profile[@]}" --artifact-dir tls --wait-for-agents 1 --nats-listen "127.0.0.1:$port" \
        --nats-cert-file cert.pem --nats-key-file key.pem --nats-token-file token
    "$aiperf" agent --join "tls://localhost:$port" --token-file token --ca-file cert.pem
    wait "$server"
    total tls 'embedded server, TLS and token:'
    # Without the authority's certificate nothing goes out.
    if AIPERF_NATS_TOKEN=x "$aiperf" agent --join "tls://localhost:$port" --join-timeout 1 >refused.log 2>&1; then
        echo 'an agent trusted a certificate that it cannot know' >&2
        exit 1
    fi
    if command -v nats-server >/dev/null; then
        port=$(free_port)
        start nats.log nats-server -a 127.0.0.1 -p "$port" -js -sd jetstream --tls --tlscert cert.pem --tlskey key.pem \
            --auth a-token-from-a-file
        wait_for grep -q 'Server is ready' nats.log
        nats=$server
        start coordinator.log "${profile[@]}" --artifact-dir outside --wait-for-agents 2 --nats-url "tls://localhost:$port" \
            --nats-token-file token --nats-ca-file cert.pem
        coordinator=$server
        for i in 1 2; do
            "$aiperf" agent --join "tls://localhost:$port" --token-file token --ca-file cert.pem --name "n$i" >"n$i.log" 2>&1 &
        done
        wait "$coordinator"
        total outside "$(nats-server --version), TLS and token:"
        stop "$nats"
    fi
fi

# Two namespaces with a link between them: the agent is on the far side.
if ip netns add aiperf-near 2>/dev/null && ip netns add aiperf-far; then
    on_exit 'ip netns del aiperf-near; ip netns del aiperf-far'
    ip link add near0 netns aiperf-near type veth peer name far0 netns aiperf-far
    for side in near far; do
        ip -n aiperf-$side link set lo up
        ip -n aiperf-$side link set ${side}0 up
    done
    ip -n aiperf-near addr add 10.99.0.1/24 dev near0
    ip -n aiperf-far addr add 10.99.0.2/24 dev far0
    start near.log ip netns exec aiperf-near "$aiperf" mock-server --host 10.99.0.1 --port 8000 --ttft 20
    wait_for grep -q listening near.log
    export AIPERF_SERVICE_HEARTBEAT_INTERVAL=1 AIPERF_NATS_TOKEN=one-of-the-check
    start coordinator.log ip netns exec aiperf-near "$aiperf" profile --model m --url http://10.99.0.1:8000 --tokenizer \
        builtin --request-rate 50 --benchmark-duration 6 --osl 4 --isl 16 --ui none --no-server-metrics \
        --no-gpu-telemetry --random-seed 1 --artifact-dir netns --wait-for-agents 2 --nats-listen 10.99.0.1:4222 \
        --nats-allow-clear-text
    coordinator=$server
    start far.log ip netns exec aiperf-far "$aiperf" agent --join nats://10.99.0.1:4222 --allow-clear-text --name far
    start close.log ip netns exec aiperf-near "$aiperf" agent --join nats://10.99.0.1:4222 --allow-clear-text \
        --name close
    if ip netns exec aiperf-far tc qdisc add dev far0 root netem delay 5ms loss 1% 2>/dev/null; then
        echo 'delay of 5 ms and loss of 1 % on the link'
    else
        echo 'left out: tc netem, which this kernel lacks'
    fi
    sleep 2
    if ip netns exec aiperf-near iptables -A INPUT -s 10.99.0.2 -p tcp --dport 4222 -j DROP 2>/dev/null; then
        sleep 2 # shorter than three heartbeats
        ip netns exec aiperf-near iptables -F INPUT
        echo 'the packet filter cut the agent off for 2 s'
    else
        ip -n aiperf-far link set far0 down
        sleep 2
        ip -n aiperf-far link set far0 up
        echo 'the link was down for 2 s (there is no iptables here)'
    fi
    wait "$coordinator"
    python3 - netns/fleet.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["requests_lost"] == 0 and all("lost" not in a for a in d["agents"]), d
assert d["requests_sent"] == d["records"] + d["requests_cut_off"], d
print("network namespaces:", d["records"], "of", d["requests_sent"])
END
else
    echo 'left out: network namespaces, which this machine does not allow'
fi
