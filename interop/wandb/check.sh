#!/usr/bin/env bash
# Uploads to Weights & Biases with its official client, from PyPI, against a server of our own (server.py): the requests of
# this program next to those of the client, runs read back by the client, runs written off line and uploaded by "wandb sync",
# and servers that are busy, hang, or outlive this program.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: without the busy server and the killed run
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh wandb
venv 'wandb==0.31.0'
build

rm -rf "$cache"/out-* "$cache/client" "$cache"/*.jsonl
mkdir -p "$cache/client"
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567 WANDB_ERROR_REPORTING=false WANDB_SILENT=true
export WANDB_DIR=$cache/client WANDB_CACHE_DIR=$cache/client WANDB_DATA_DIR=$cache/client WANDB_CONFIG_DIR=$cache/client
export WANDB_ARTIFACT_DIR=$cache/client

serve() { # serve NAME OPTION... starts a server whose log is NAME.jsonl
    start "$cache/$1.out" "$cache/venv/bin/python" server.py "$cache/$1.jsonl" "${@:2}"
    wait_for grep -q 'listening on http://' "$cache/$1.out"
    export WANDB_BASE_URL=$(grep -o 'http://.*' "$cache/$1.out")
}
mock_server "$cache/mock.log" --ttft 5 --itl 1
profile=(profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics --no-gpu-telemetry
    --endpoint-type chat --streaming --isl 50 --osl 10 --request-count 40 --concurrency 4 --warmup-request-count 2
    --wandb-project bench --wandb-tag nightly)
run() { # run NAME ARGUMENTS...
    logged "$cache/out-$1.log" "$cache/aiperf" "${profile[@]}" --artifact-dir "$cache/out-$1" "${@:2}"
    if grep -q 'WARNING .*Weights' "$cache/out-$1.log"; then cat "$cache/out-$1.log"; exit 1; fi
}
uploaded() { grep -o 'me/bench/runs/[a-z0-9]*' "$cache/out-$1.log" | cut -d/ -f4; }
check() { "$cache/venv/bin/python" check.py "$@"; }

# The same run, uploaded by both.
serve ours
run online
cp "$cache/ours.jsonl" "$cache/requests.jsonl" # without those of the reader
check read "$cache/out-online" "$(uploaded online)" "$cache/table.json"
serve theirs
logged "$cache/client.log" check log "$cache/out-online" "$cache/table.json"
check compare "$cache/theirs.jsonl" "$cache/requests.jsonl"

# Off line, with a configuration that is larger than a block of the file.
WANDB_MODE=offline run offline --extra-inputs "pad:$(printf 'x%.0s' $(seq 70000))"
kept=$(ls -d "$cache"/out-offline/wandb/offline-run-*)
serve sync
logged "$cache/sync.log" "$cache/venv/bin/wandb" sync "$kept"
check read "$cache/out-offline" "${kept##*-}"

# A server that never answers: the run ends, with one line.
start "$cache/silent.out" python3 -c '
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())
    print("connected", flush=True)'
wait_for grep -q . "$cache/silent.out"
export WANDB_BASE_URL=http://127.0.0.1:$(head -n 1 "$cache/silent.out")
AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS=2 logged "$cache/out-silent.log" "$cache/aiperf" "${profile[@]}" --artifact-dir "$cache/out-silent"
if [ "$(grep -c 'WARNING .*Weights & Biases.*took longer than 2 s' "$cache/out-silent.log")" != 1 ]; then cat "$cache/out-silent.log"; exit 1; fi
[ "${1:-}" != quick ] || { printf 'silent server: one line, exit code 0\n'; exit; }

# Killed in the middle, the run is on disk.
before=$(wc -l <"$cache/silent.out")
AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS=60 "$cache/aiperf" "${profile[@]}" --artifact-dir "$cache/out-killed" >"$cache/out-killed.log" 2>&1 &
process=$!
for _ in $(seq 600); do [ "$(wc -l <"$cache/silent.out")" = "$before" ] || break; sleep 0.1; done
kill -KILL "$process"
wait "$process" 2>/dev/null || true
python3 -c '
import csv, json, os, sys
killed, whole = sys.argv[1:]
names = {n for n in os.listdir(whole) if n.endswith((".json", ".jsonl", ".csv"))}
assert names <= set(os.listdir(killed)), names - set(os.listdir(killed))
for n in names:
    with open(os.path.join(killed, n)) as f:
        {"json": json.load, "jsonl": lambda f: [json.loads(x) for x in f], "csv": lambda f: list(csv.reader(f))}[n.split(".")[-1]](f)
assert json.load(open(os.path.join(killed, "profile_export_aiperf.json")))["request_count"]["avg"] == 40
' "$cache/out-killed" "$cache/out-silent"
printf 'silent server: one line, exit code 0; killed during the upload: all files are there\n'

# A server that refuses each kind of request once, and asks to wait for a second.
serve busy busy=1
run busy
check read "$cache/out-busy" "$(uploaded busy)"
