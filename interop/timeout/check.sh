#!/usr/bin/env bash
# Runs under GNU timeout, which sends its signal to the program and again to the group of which it is part: each keeps its
# report, and has the exit code of the signal.
#
#   INTEROP_CACHE=DIR  where the program is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh timeout
build
mock_server "$cache/server.log"

# under CODE OPTION... checks a run that timeout ends after its first requests.
under() {
    local want=$1 code=0 dir=$cache/run
    shift
    rm -rf "$dir"
    timeout "$@" 3 "$cache/aiperf" profile --model mock-model --url "$url" --tokenizer builtin --streaming \
        --concurrency 4 --benchmark-duration 600 --osl 20 --isl 32 --ui none --artifact-dir "$dir" >"$cache/out.log" 2>&1 ||
        code=$?
    if [ "$code" != "$want" ] || [ ! -s "$dir/profile_export_aiperf.json" ] || grep -q 'Force Quit' "$cache/out.log"; then
        echo "timeout $*: exit code $code, want $want; the folder has $(ls "$dir"); the program said:"
        cat "$cache/out.log"
        exit 1
    fi
    echo "timeout $*: exit code $code, $(wc -l <"$dir/profile_export.jsonl") records and the report"
}

for _ in 1 2 3; do
    under 143 --preserve-status
    under 0 --preserve-status --signal INT
done
under 124
under 129 --preserve-status --signal HUP
under 143 --preserve-status --foreground
