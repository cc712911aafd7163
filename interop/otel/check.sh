#!/usr/bin/env bash
# A real OpenTelemetry Collector (built from its Go modules in the module of this folder) receives runs over HTTP, over TLS
# with a client certificate, and over gRPC; what it stored is compared with the runs' own records. Finally it is stopped
# during a run and started again.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: HTTP, gRPC, TLS with a client certificate
#
#   INTEROP_CACHE=DIR  where the collector is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh otel
build
go build -o "$cache/collector" .

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
    start "$cache/collector.log" "$cache/collector" --config "$cache/collector.yaml"
    wait_for grep -q 'Everything is ready' "$cache/collector.log"
}
mock_server "$cache/server.log" --ttft 10 --itl 2 --fault 'status=503;rate=0.1'

status=0
profile=("$cache/aiperf" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry
    --endpoint-type chat --streaming --isl 100 --osl 20 --otel-resource-attributes team=perf)
# run NAME URL VARIABLES... -- ARGUMENTS...: one run, checked.
run() {
    local name=$1 target=$2 variables=()
    shift 2
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    shift
    rm -rf "$cache/$name" "$cache/$name.jsonl"
    collect "$cache/$name.jsonl"
    logged "$cache/$name.log" env AIPERF_OTEL_FLUSH_INTERVAL_SECONDS=0.5 "${variables[@]}" "${profile[@]}" --concurrency 8 \
        --request-count 300 --warmup-request-count 5 --otel-url "$target" --artifact-dir "$cache/$name" "$@" || status=1
    stop # it stores the rest
    python3 check.py "$name" "$cache/$name.jsonl" "$cache/$name" "$cache/$name.log" || status=1
}
run http "127.0.0.1:$http" --
run grpc "grpc://127.0.0.1:$grpc" --
# The SDK's own address, of which nothing may come through, is one without TLS.
run mutual-tls "https://127.0.0.1:$tls" OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 \
    OTEL_EXPORTER_OTLP_CERTIFICATE="$cache/cert.pem" OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="$cache/cert.pem" \
    OTEL_EXPORTER_OTLP_CLIENT_KEY="$cache/key.pem" --

[ "${1:-}" != quick ] || exit $status

run grpc-by-variable "http://127.0.0.1:$grpc" OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_COMPRESSION=gzip -- \
    --gen-ai-provider acme
run delta "127.0.0.1:$http" OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta \
    OTEL_EXPORTER_OTLP_COMPRESSION=gzip --

# The collector is stopped during a run and started again.
rm -rf "$cache/restart" "$cache/restart.jsonl"
collect "$cache/restart.jsonl"
logged "$cache/restart.log" env AIPERF_OTEL_FLUSH_INTERVAL_SECONDS=0.3 "${profile[@]}" --request-rate 60 --benchmark-duration 8 \
    --otel-url "127.0.0.1:$http" --artifact-dir "$cache/restart" &
run=$!
sleep 3
stop
sleep 1
collect "$cache/restart.jsonl"
wait $run || status=1
stop
python3 check.py restart "$cache/restart.jsonl" "$cache/restart" "$cache/restart.log" || status=1
exit $status
