#!/usr/bin/env bash
# A real OpenTelemetry Collector (built from its Go modules in the module of this folder) receives runs over HTTP, over TLS
# with a client certificate, and over gRPC; what it stored is held against the runs' own records. At last it dies in mid-run
# and comes back.
#
#   INTEROP_CACHE=DIR  where the collector is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh otel
build
CGO_ENABLED=0 go build -o "$cache/collector" .

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=interop -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$cache/key.pem" -out "$cache/cert.pem" 2>/dev/null
http=$(free_port) grpc=$(free_port) tls=$(free_port)

# collect FILE starts the collector, which stores what it gets in FILE, and waits until it listens.
collect() {
    cat >"$cache/collector.yaml" <<YAML
receivers:
  otlp:
    protocols:
      http: {endpoint: 127.0.0.1:$http}
      grpc: {endpoint: 127.0.0.1:$grpc}
  otlp/tls:
    protocols:
      http: {endpoint: 127.0.0.1:$tls, tls: {cert_file: $cache/cert.pem, key_file: $cache/key.pem, client_ca_file: $cache/cert.pem}}
exporters:
  debug: {}
  file: {path: $1, flush_interval: 100ms, append: true}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp, otlp/tls], exporters: [file, debug]}
YAML
    "$cache/collector" --config "$cache/collector.yaml" >"$cache/collector.log" 2>&1 &
    collector=$!
    for _ in $(seq 100); do
        grep -q 'Everything is ready' "$cache/collector.log" && return
        sleep 0.1
    done
    cat "$cache/collector.log"
    exit 1
}
collector=
on_exit '[ -z "$collector" ] || kill $collector'
stop() { kill "$collector"; wait "$collector" || true; collector=; }

: >"$cache/server.log" # a kept directory has the address of the last run
"$cache/aiperf" mock-server --port 0 --ttft 10 --itl 2 --fault 'status=503;rate=0.1' >"$cache/server.log" 2>&1 &
on_exit "kill $!"
for _ in $(seq 50); do
    grep -q 'http://' "$cache/server.log" && break
    sleep 0.1
done
url=$(grep -o 'http://[^ ]*' "$cache/server.log" | head -1)

status=0
# run NAME URL VARIABLES... -- ARGUMENTS...: one run, checked.
run() {
    local name=$1 target=$2 variables=()
    shift 2
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    shift
    rm -rf "$cache/$name" "$cache/$name.jsonl"
    collect "$cache/$name.jsonl"
    env AIPERF_OTEL_FLUSH_INTERVAL_SECONDS=0.5 "${variables[@]}" "$cache/aiperf" profile --model mock-model --tokenizer builtin --url "$url" --ui none \
        --no-server-metrics --no-gpu-telemetry --endpoint-type chat --streaming --concurrency 8 --request-count 300 --warmup-request-count 5 --isl 100 --osl 20 \
        --otel-url "$target" --otel-resource-attributes team=perf --artifact-dir "$cache/$name" "$@" >"$cache/$name.log" 2>&1 ||
        { cat "$cache/$name.log"; status=1; }
    stop # it stores the rest
    python3 check.py "$name" "$cache/$name.jsonl" "$cache/$name" "$cache/$name.log" || status=1
}
run http "127.0.0.1:$http" --
run grpc "grpc://127.0.0.1:$grpc" --
run grpc-by-variable "http://127.0.0.1:$grpc" OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_COMPRESSION=gzip -- --gen-ai-provider acme
run delta "127.0.0.1:$http" OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta OTEL_EXPORTER_OTLP_COMPRESSION=gzip --
# The SDK's own address, of which nothing may come through, is one without TLS.
run mutual-tls "https://127.0.0.1:$tls" OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_CERTIFICATE="$cache/cert.pem" OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="$cache/cert.pem" \
    OTEL_EXPORTER_OTLP_CLIENT_KEY="$cache/key.pem" --

# The collector dies in mid-run and comes back.
rm -rf "$cache/restart" "$cache/restart.jsonl"
collect "$cache/restart.jsonl"
AIPERF_OTEL_FLUSH_INTERVAL_SECONDS=0.3 "$cache/aiperf" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry \
    --endpoint-type chat --streaming --request-rate 60 --benchmark-duration 8 --isl 100 --osl 20 --otel-url "127.0.0.1:$http" --otel-resource-attributes team=perf \
    --artifact-dir "$cache/restart" >"$cache/restart.log" 2>&1 &
run=$!
sleep 3
stop
sleep 1
collect "$cache/restart.jsonl"
wait $run || { cat "$cache/restart.log"; status=1; }
stop
python3 check.py restart "$cache/restart.jsonl" "$cache/restart" "$cache/restart.log" || status=1
exit $status
