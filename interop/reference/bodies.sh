#!/usr/bin/env bash
# Runs the original, installed from PyPI as a black box, and ours on the same files for every endpoint type of the
# original's release, and compares the requests that the mock server saw: method, path, headers and body.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
#   bodies.sh [CASE…]  only these cases
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
venv 'aiperf==0.13.0'
mkdir -p "$cache/tiktoken" "$cache/bodies"
cp -f "$(ranks)" "$cache/tiktoken/fb374d419588a4632f3f557e76b4b70aebbca790"
export TIKTOKEN_CACHE_DIR=$cache/tiktoken
dir=$cache/bodies
(cd "$root" && CGO_ENABLED=0 go build -o "$dir/aiperf" ./cmd/aiperf)
python3 bodies.py files "$dir"

: >"$dir/server.log" # a kept directory has the address of the last run
"$dir/aiperf" mock-server --port 0 --fast --record-requests "$dir/requests.jsonl" --record-bodies >"$dir/server.log" 2>&1 &
on_exit "kill $!"
for _ in $(seq 50); do
    grep -q 'http://' "$dir/server.log" && break
    sleep 0.1
done
url=$(grep -o 'http://[^ ]*' "$dir/server.log" | head -1)

# The settings of a case, and how many requests it sends, come from bodies.py.
status=0
if [ $# -eq 0 ]; then mapfile -t names < <(python3 bodies.py names); else names=("$@"); fi
for name in "${names[@]}"; do
    for who in theirs ours; do
        program=$dir/aiperf
        [ $who = theirs ] && program=$cache/venv/bin/aiperf
        rm -rf "${dir:?}/$who-$name"
        mapfile -d '' -t args < <(python3 bodies.py arguments "$dir" "$name" "$url" "$who")
        timeout 180 "$program" profile "${args[@]}" --artifact-dir "$dir/$who-$name" >"$dir/$who-$name.log" 2>&1 || true
    done
    sleep 0.3 # the record is flushed ten times a second
    python3 bodies.py compare "$dir" "$name" || status=1
done
exit $status
