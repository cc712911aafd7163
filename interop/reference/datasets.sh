#!/usr/bin/env bash
# The original, installed from PyPI as a black box, and ours read the same data files and send what they say to the
# mock server, which records the bodies; datasets.py compares them request by request.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
#   CASES="a b"        only these cases
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
original
build

work=$cache/datasets
rm -rf "$work"
mkdir -p "$work"
"$cache/venv/bin/python" datasets.py files "$work/files"
mock_server "$work/server.log" --fast --record-requests "$work/requests.jsonl" --record-bodies

# Pictures and sounds are named in the files relative to the working directory.
cd "$work/files"
# both NAME FLAGS...: the requests of each program carry the case's name in a header.
both() {
    local name=$1
    shift
    [ -z "${CASES:-}" ] || [[ " $CASES " == *" $name "* ]] || return 0
    for program in theirs ours; do
        local command=$cache/aiperf
        [ $program = ours ] || command=$cache/venv/bin/aiperf
        timeout 120 "$command" profile --model mock-model --tokenizer builtin --url "$url" --ui none --no-server-metrics \
            --no-gpu-telemetry --concurrency 1 --random-seed 7 --header "X-Case:$program-$name" \
            --artifact-dir "$work/$program-$name" "$@" >"$work/$program-$name.log" 2>&1 ||
            echo "$program $name: exit code $?" >>"$work/failed"
    done
}
file() { # NAME FLAGS...: the file of that name in the format of that name
    local name=$1
    shift
    both "$name" --input-file "${name%%-*}.jsonl" --custom-dataset-type "${name%%-*}" --osl 4 "$@"
}
schedule=(--fixed-schedule --fixed-schedule-auto-offset)

file single_turn --num-conversations 6
file single_turn-completions --num-conversations 2 --endpoint-type completions
file single_turn-prompts --num-conversations 3 --system-prompt 'Be brief.'
file multi_turn --num-conversations 3
both media --input-file media.jsonl --custom-dataset-type single_turn --osl 4 --num-conversations 5
both uuids --input-file uuids.jsonl --custom-dataset-type single_turn --osl 4 --num-conversations 3
both uuids-strip --input-file uuids.jsonl --custom-dataset-type single_turn --osl 4 --num-conversations 5 --uuid-and-strip
both chunks --input-file timed.jsonl --custom-dataset-type single_turn --osl 4 --num-conversations 2 --streaming --use-server-token-count --per-chunk-usage
both timed --input-file timed.jsonl --custom-dataset-type single_turn --osl 4 "${schedule[@]}"
file mooncake_trace "${schedule[@]}"
file mooncake_trace-fast "${schedule[@]}" --synthesis-speedup-ratio 2
file mooncake_trace-limits "${schedule[@]}" --synthesis-max-isl 1300 --synthesis-max-osl 10
file mooncake_trace-offset --fixed-schedule --fixed-schedule-start-offset 105 --fixed-schedule-end-offset 300
file mooncake_trace-block "${schedule[@]}" --isl-block-size 500
file mooncake_trace-unscheduled --no-fixed-schedule --num-conversations 5
both given --input-file given.jsonl --custom-dataset-type mooncake_trace --osl 4 "${schedule[@]}"
both delta --input-file delta.jsonl --custom-dataset-type mooncake_trace --osl 4 --num-conversations 1
file random_pool --num-conversations 6
file random_pool-batch --num-conversations 6 --batch-size-text 3
both pools --input-file pools --custom-dataset-type random_pool --osl 4 --num-conversations 5
file raw_payload --num-conversations 2
both payloads --input-file payloads --custom-dataset-type raw_payload --num-conversations 2
both inputs --input-file inputs.json --custom-dataset-type inputs_json --num-conversations 2
file bailian_trace "${schedule[@]}"
both chats --input-file chats.jsonl --custom-dataset-type bailian_trace "${schedule[@]}"
both burst --input-file burst.csv --custom-dataset-type burst_gpt_trace "${schedule[@]}"
file sagemaker_data_capture --fixed-schedule
both baseten --input-file baseten.parquet --custom-dataset-type baseten_trace --endpoint-type completions --fixed-schedule
file dag_jsonl --num-conversations 1
both detected --input-file single_turn.jsonl --osl 4 --num-conversations 3
both synthetic --isl 100 --osl 8 --num-dataset-entries 4 --num-conversations 4 --session-turns-mean 3
both prefixes --isl 100 --osl 8 --num-dataset-entries 4 --num-conversations 4 --num-prefix-prompts 1 --prefix-prompt-length 20
both contexts --isl 100 --osl 8 --num-dataset-entries 4 --num-conversations 4 --shared-system-prompt-length 50 --user-context-prompt-length 30
both pairs --seq-dist '64,32:50;128,16:50' --num-dataset-entries 20 --num-conversations 20

stop # it writes the rest of its record
cd "$root/interop/reference"
"$cache/venv/bin/python" datasets.py compare "$work"
