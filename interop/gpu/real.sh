#!/usr/bin/env bash
# A check for a machine with a real GPU: runs from a checkout with bash alone, and says what it found. It reads the
# GPUs through the driver's library (aiperf-gpu) and through nvidia-smi or amd-smi, compares the two, and runs a
# benchmark against the mock server with each of them. With --load it lets a GPU work during a second benchmark if
# there is a python3 with torch.
#
#   AIPERF_BIN=DIR  where aiperf and aiperf-gpu are, if there is no Go to build them
#
# Programs for such a machine: CGO_ENABLED=0 go build -o DIR ./cmd/aiperf ./cmd/aiperf-gpu
set -uo pipefail
cd "$(dirname "$0")"
. ../cache.sh gpu-real
out=$cache/out
rm -rf "$out"
mkdir "$out"
status=0
say() { printf '%s\n' "$*"; }
bad() {
    say "  BAD: $*"
    status=1
}

if [ -n "${AIPERF_BIN:-}" ]; then
    (cd "$root" && cp -f "$AIPERF_BIN/aiperf" "$AIPERF_BIN/aiperf-gpu" "$cache/") || exit 1
elif command -v go >/dev/null; then
    build ./cmd/aiperf ./cmd/aiperf-gpu || exit 1
else
    say "no Go here: build the programs elsewhere and give their directory as AIPERF_BIN"
    exit 1
fi

vendor=
if [ "$("$cache/aiperf-gpu" nvml --once 2>/dev/null | grep -c '"ready"')" -gt 0 ]; then
    vendor=nvml collector=pynvml smi=nvidia-smi
elif [ "$("$cache/aiperf-gpu" amdsmi --once 2>/dev/null | grep -c '"ready"')" -gt 0 ]; then
    vendor=amdsmi collector=amdsmi smi=amd-smi
else
    say "no driver answers:"
    "$cache/aiperf-gpu" nvml --once
    "$cache/aiperf-gpu" amdsmi --once
    exit 1
fi

say "== what the driver's library says (aiperf-gpu $vendor)"
"$cache/aiperf-gpu" "$vendor" --once | tee "$out/once"
# value FIELD prints a value of the first GPU.
value() { grep -o "\"$1\":[0-9.e+-]*" "$out/once" | head -1 | cut -d: -f2; }
if [ "$vendor" = nvml ]; then
    say "== beside nvidia-smi"
    if command -v nvidia-smi >/dev/null; then
        # near NAME OURS THEIRS TOLERANCE
        near() {
            awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t) }' &&
                say "  $1: $2, nvidia-smi $3" || bad "$1: ${2:-nothing}, nvidia-smi $3"
        }
        IFS=, read -r uuid name used celsius watts total < <(nvidia-smi -i 0 --format=csv,noheader,nounits \
            --query-gpu=uuid,name,memory.used,temperature.gpu,power.draw,memory.total)
        grep -q "\"uuid\":\"$uuid\"" "$out/once" && say "  uuid: $uuid" || bad "uuid: nvidia-smi says $uuid"
        grep -q "\"model\":\"${name# }\"" "$out/once" && say "  name:$name" || bad "name: nvidia-smi says$name"
        # The driver's reserve counts as used in one of the two.
        near "memory used (GB)" "$(value gpu_memory_used)" "$(awk -v m="$used" 'BEGIN { print m * 0.001048576 }')" "$(awk -v m="$total" 'BEGIN { print 0.02 * m * 0.001048576 }')"
        near "temperature (°C)" "$(value gpu_temperature)" "$celsius" 5
        near "power (W)" "$(value gpu_power_usage)" "$watts" 60
    else
        say "  nvidia-smi is not here"
    fi
fi

mock_server "$out/server.log" --ttft 50 --itl 10 || exit 1
# profile NAME PROGRAM runs a benchmark of about ten seconds and prints its figures.
profile() {
    local name=$1 program=$2 code=0 rest
    "$program" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --streaming \
        --concurrency 4 --request-count 100 --isl 50 --osl 35 --extra-inputs ignore_eos:true \
        --gpu-telemetry "$collector" --artifact-dir "$out/$name" >"$out/$name.log" 2>&1 || code=$?
    say "== $name: exit code $code"
    [ "$code" = 0 ] || bad "the run failed: $(tail -5 "$out/$name.log")"
    grep -aE 'gpu_telemetry|GPU telemetry|initialized with' "$out/$name.log" | head -20
    sed -n '/GPU Power Efficiency$/,/^└/p' "$out/$name.log" | head -20
    sed -n '/| GPU 0 |/,/^└/p' "$out/$name.log"
    rest=$(wc -l <"$out/$name/gpu_telemetry_export.jsonl" 2>/dev/null || echo 0)
    [ "$rest" -ge 10 ] && say "  $rest readings" || bad "only $rest readings"
    figures "$name"
}
# figures NAME compares the energy counter with the mean power times the duration.
figures() {
    local file=$out/$1/profile_export_aiperf.json power joules seconds
    avg() { tr -d ' \n' <"$file" | grep -o "\"$1\":{\"unit\":\"[^\"]*\",\"avg\":[0-9.e+-]*" | head -1 | grep -o '[0-9.e+-]*$'; }
    power=$(avg total_gpu_power) joules=$(avg total_gpu_energy) seconds=$(avg benchmark_duration)
    if [ -z "$power" ] || [ -z "$joules" ]; then
        bad "no power or energy"
        return
    fi
    # Counters move in steps of some 20 to 100 ms, and the power of a reading is an average over some time.
    awk -v p="$power" -v j="$joules" -v s="$seconds" 'BEGIN { r = j / (p * s); printf "  energy %.1f J, power %.1f W x %.2f s = %.1f J, ratio %.3f\n", j, p, s, p * s, r; exit !(r > 0.8 && r < 1.25) }' ||
        bad "energy and power do not fit"
}
profile driver "$cache/aiperf"
if command -v "$smi" >/dev/null; then
    mkdir "$out/alone" && cp "$cache/aiperf" "$out/alone/"
    profile "$smi" "$out/alone/aiperf"
    grep -q 'aiperf-gpu' "$out/$smi.log" && say "  (aiperf-gpu was found on PATH)"
fi
if [ "${1:-}" = --load ] && python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    start "$out/load.log" timeout 60 python3 -c 'import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
while True:
    for _ in range(20): a @ a
    torch.cuda.synchronize()'
    sleep 5
    profile under-load "$cache/aiperf"
fi
[ $status = 0 ] && say "all good" || say "something is wrong, see BAD above"
exit $status
