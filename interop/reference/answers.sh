#!/usr/bin/env bash
# The largest concurrency within a limit, as three programs find it: aiperf capacity, the original with its planners, and
# GuideLLM with its profiles goodput and knee. The servers are those of "go run ./bench/search -serve", whose answers
# are known. Prints a line for each search; a program that has not finished after LONGEST seconds is said so.
#
#   bash answers.sh [SERVER...]    real-linear real-knee real-cliff real-batch; all of them without arguments
#
#   INTEROP_CACHE=DIR  where the virtual environments are kept (default: a directory that is removed)
#   PROGRAMS="..."     ours smooth_isotonic monotonic_sla goodput knee (default: ours smooth_isotonic goodput)
#   LONGEST=N          seconds a search may take (default: 900)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh reference
programs=${PROGRAMS:-ours smooth_isotonic goodput}
longest=${LONGEST:-900}
export HF_HUB_OFFLINE=1 DO_NOT_TRACK=1
build ./cmd/aiperf ./bench/search
case $programs in *_*) original ;; esac
case $programs in
*goodput* | *knee*)
    all=$cache
    cache=$all/guidellm
    mkdir -p "$cache"
    venv guidellm==0.8.1
    [ -d "$cache/tiny" ] || "$cache/venv/bin/python" "$root/interop/servers/make_tokenizer.py" "$cache/tiny"
    guidellm=$cache/venv/bin/guidellm tokenizer=$cache/tiny
    cache=$all
    ;;
esac

# All programs and the servers get the same priority, above that of other processes where it is permitted.
first=()
[ "$(nice -n -10 nice 2>/dev/null)" != -10 ] || first=(nice -n -10)

work=$cache/answers
mkdir -p "$work"
failed=0

# search SERVER PROGRAM makes one search, leaves its files in $dir and prints its answer.
search() {
    local name=$1 program=$2 flag metric stat=p95 threshold began=$SECONDS code=0 told= answer=
    case $name in
    real-linear) flag=--itl metric=inter_token_latency threshold=20 told=tpot_ms truth=24 ;;
    real-knee) flag=--itl metric=inter_token_latency threshold=25 told=tpot_ms truth=19 ;;
    real-cliff) flag=--itl metric=inter_token_latency threshold=25 told=tpot_ms truth=17 ;;
    real-batch) flag=--ttft metric=time_to_first_token threshold=200 told=ttft_ms truth=16 ;;
    *) echo "there is no server $name" >&2; exit 2 ;;
    esac
    dir=$work/$name-$program
    rm -rf "$dir"
    mkdir -p "$dir"
    case $program in
    ours)
        "${first[@]}" timeout "$longest" "$cache/aiperf" capacity --url "$url" --model m --tokenizer builtin \
            "$flag" "$stat:$threshold" --max 200 --isl 64 --osl 32 --ui none --artifact-dir "$dir/out" >"$dir/log" 2>&1 || code=$?
        ;;
    smooth_isotonic | monotonic_sla)
        cat >"$dir/search.yaml" <<EOF
benchmark:
  model: m
  endpoint: {url: "$url", type: chat, streaming: true}
  tokenizer: {name: builtin}
  dataset: {type: synthetic, entries: 300, prompts: {isl: 64, osl: 32}}
  artifacts: {dir: "$dir/out"}
  phases:
    - {name: profiling, type: concurrency, concurrency: 1, requests: 300}
sweep:
  type: adaptive_search
  planner: $program
  search_space: [{path: phases.profiling.concurrency, lo: 1, hi: 200, kind: int}]
  objectives: [{metric: request_throughput, stat: avg, direction: maximize}]
  sla_filters: [{metric_tag: $metric, stat: $stat, op: le, threshold: $threshold}]
  max_iterations: 30
  sla_precision: coarse
  sla_warmup_seconds: 0
EOF
        "${first[@]}" timeout "$longest" "$cache/venv/bin/aiperf" profile --config "$dir/search.yaml" --ui none \
            >"$dir/log" 2>&1 || code=$?
        ;;
    goodput | knee)
        "${first[@]}" timeout "$longest" "$guidellm" run --backend "kind=openai_http,target=$url" \
            --profile "kind=$program" \
            --metrics "{\"kind\":\"generative\",\"slo\":{\"$told\":$threshold}}" \
            --data kind=synthetic_text,prompt_tokens=64,output_tokens=32 \
            --tokenizer "{\"kind\":\"huggingface_auto\",\"model\":\"$tokenizer\"}" \
            --constraint kind=max_duration,seconds=10 --disable-console-interactive \
            --output "kind=json,path=$dir/out.json" >"$dir/log" 2>&1 || code=$?
        ;;
    *) echo "there is no program $program" >&2; exit 2 ;;
    esac
    answer=$(python3 answers.py "$program" "$dir")
    [ "$code" = 0 ] || answer="exit code $code; $answer"
    [ "$code" != 124 ] || answer="not finished in $longest s; ${answer#exit code 124; }"
    printf '%-12s answer %s  %-16s %s, %d s\n' "$name" "$truth" "$program" "$answer" $((SECONDS - began))
    [ "$program:$code" != ours:0 ] || python3 answers.py hold "$dir" "$truth" || failed=1
}

[ $# -gt 0 ] || set -- real-linear real-knee real-cliff real-batch
for name; do
    port=$(free_port)
    start "$work/$name.log" "${first[@]}" "$cache/search" -serve "$name" -port "$port"
    wait_for grep -q 'listening on' "$work/$name.log"
    url=http://127.0.0.1:$port
    for program in $programs; do
        search "$name" "$program"
    done
    stop
done
exit $failed
