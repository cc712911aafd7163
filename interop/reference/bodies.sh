#!/usr/bin/env bash
# Runs the original, installed from PyPI as a black box, and ours on the same files for every endpoint type of the
# original's release, and compares the requests that the mock server saw: method, path, headers and body.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
#   bodies.sh [CASE…]  only these cases
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build
dir=$cache/bodies
mkdir -p "$dir"
python3 bodies.py files "$dir"

mock_server "$dir/server.log" --fast --record-requests "$dir/requests.jsonl" --record-bodies

# The settings of a case, and how many requests it sends, come from bodies.py.
status=0
if [ $# -eq 0 ]; then mapfile -t names < <(python3 bodies.py names); else names=("$@"); fi
for name in "${names[@]}"; do
    for who in theirs ours; do
        program=$cache/aiperf
        [ $who = theirs ] && program=$cache/venv/bin/aiperf
        rm -rf "${dir:?}/$who-$name"
        mapfile -d '' -t args < <(python3 bodies.py arguments "$dir" "$name" "$url" "$who")
        timeout 180 "$program" profile "${args[@]}" --artifact-dir "$dir/$who-$name" >"$dir/$who-$name.log" 2>&1 || true
    done
    sleep 0.3 # the record is flushed ten times a second
    python3 bodies.py compare "$dir" "$name" || status=1
done
exit $status
