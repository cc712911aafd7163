#!/usr/bin/env bash
# The dashboard in a real terminal (Debian's tmux), at four sizes: what a person sees during a run, after keys, a resize and
# a suspension, and what stays on the screen afterwards; Ctrl-C once and twice; a series; aiperf top. Every character of the
# texts that the server sends must arrive as text: its error messages hold sequences that move a cursor.
# They have no variable CI, with which there is no dashboard.
#
#   INTEROP_CACHE=DIR  where the transcripts are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh terminal
debian tmux tmux
build
export LC_ALL=C.UTF-8 LANG=C.UTF-8

mux() { tmux -S "$cache/socket" "$@"; }
on_exit 'mux kill-server 2>/dev/null'
# open NAME COLUMNS ROWS opens a terminal with a shell.
open() {
    mux -f /dev/null new-session -d -s "$1" -x "$2" -y "$3" -c "$cache" 'env -u CI PS1="ready\$ " TERM=screen-256color bash --norc'
    sees "$1" 'ready\$'
}
keys() { mux send-keys -t "=$1:" "${@:2}"; }
# screen NAME prints what is on a terminal.
screen() { mux capture-pane -p -t "=$1:"; }
# sees NAME PATTERN waits until a line of the terminal matches, at most 60 s.
sees() {
    local i
    for ((i = 0; i < 300; i++)); do
        if screen "$1" | grep -Eq -- "$2"; then return 0; fi
        sleep 0.2
    done
    echo "terminal $1 does not show: $2" >&2
    screen "$1" >&2
    return 1
}
# lacks NAME PATTERN fails if a line of the terminal matches.
lacks() {
    if screen "$1" | grep -Eq -- "$2"; then
        echo "terminal $1 shows: $2" >&2
        screen "$1" >&2
        return 1
    fi
}
# keep NAME FILE keeps a transcript.
keep() { screen "$1" >"$cache/$2.txt"; }

mock_server "$cache/mock.log" --ttft 60 --itl 8 --ttft-jitter-cv 0.4 --max-batch 12 --error-rate 5
load=("$cache/aiperf" profile --model mock-model --tokenizer builtin --endpoint-type chat --streaming --url "$url"
    --isl 100 --osl 40 --stats-interval 1 --extra-inputs ignore_eos:true)

# A collector that answers until it is held: from then on the end of the run at t200 waits for it, so that a second Ctrl-C
# finds it still going. (One that never answers is given up at once, and the run does not wait for it.)
rm -f "$cache/silent" "$cache/held"
python3 silent.py "$cache/silent" "$cache/held" &
silent=$!
on_exit 'kill $silent 2>/dev/null'
for ((i = 0; i < 300; i++)); do [ -s "$cache/silent" ] && break; sleep 0.1; done

# Four sizes, at once.
sizes=("80 24" "100 30" "140 40" "200 60")
for size in "${sizes[@]}"; do
    read -r columns rows <<<"$size"
    open "t$columns" "$columns" "$rows"
    slow=
    [ "$columns" != 200 ] || slow="--otel-url http://127.0.0.1:$(cat "$cache/silent")"
    keys "t$columns" "clear; ${load[*]} $slow --concurrency 16 --gpu-telemetry dashboard $url/dcgm1/metrics --benchmark-duration 600 --artifact-dir run-$columns; echo code=\$?" Enter
done
for size in "${sizes[@]}"; do
    read -r columns rows <<<"$size"
    t=t$columns
    sees "$t" 'Profile Progress'
    sees "$t" 'GPU Telemetry · 2 GPUs'
    sees "$t" 'TTFT \(ms\)'
    keep "$t" "run-$columns"
    [ "$(screen "$t" | wc -l)" = "$rows" ]
    for pane in '2 Profile Progress' '3 Real-Time Metrics' '4 Workers' '5 GPU Telemetry' '6 Logs' '7 Server Metrics' '8 Errors'; do
        keys "$t" "${pane%% *}"
        sees "$t" "^╭─ ${pane#* }"
    done
    keys "$t" 1
    sees "$t" 'Profile Progress'
    keys "$t" l
    for ((i = 0; i < 50; i++)); do screen "$t" | grep -q '╭─ Logs' || break; sleep 0.2; done
    lacks "$t" '╭─ Logs'
    keys "$t" Escape
    sees "$t" '╭─ Logs'
    keys "$t" C-s
    sees "$t" 'Screenshot: '
done
grep -q '</svg>' "$cache"/run-100/dashboard_*.svg

# A resize keeps everything, a terminal that is too small has a few lines.
mux resize-window -t =t140: -x 30 -y 8
sees t140 '^[0-9.]+ req/s'
mux resize-window -t =t140: -x 140 -y 40
sees t140 'Real-Time Metrics'

# Ctrl-Z leaves a shell, fg comes back.
keys t80 C-z
sees t80 'Stopped'
lacks t80 'Real-Time Metrics'
keys t80 fg Enter
sees t80 'Profile Progress'

# Ctrl-C once: the report stays on the normal screen; twice: the program ends at once.
for t in t80 t100 t140; do keys "$t" C-c; done
grep -q 'Streaming metrics to' "$cache/run-200/logs/aiperf.log"
touch "$cache/held"
keys t200 C-c
sees t200 'Cancellation in Progress'
sleep 1.5 # until then it would be the same one
keys t200 C-c
for t in t80 t100 t140; do
    [ "$t" = t80 ] || sees "$t" '^code=0' # its shell went on when it was stopped
    sees "$t" 'aiperf serve'
    lacks "$t" 'Profile Progress'
    keep "$t" "report-$t"
done
sees t200 'Force Quit'
sees t200 '^code=130'

# A series.
keys t140 "clear; ${load[*]} --concurrency 2,4 --ui dashboard --request-count 40 --artifact-dir series; echo code=\$?" Enter
sees t140 'Sweep · run [12] of 2'
sees t140 'concurrency 2'
keep t140 series
sees t140 '^code=0'
lacks t140 'Profile Progress'

# The server without a load, and a server that is not there.
keys t100 "clear; $cache/aiperf top $url http://127.0.0.1:1 --gpu-telemetry $url/dcgm1/metrics; echo code=\$?" Enter
sees t100 'Server Metrics · 2 watched, 1 not reached'
sees t100 'Running +[0-9]+ requests'
sees t100 'NVIDIA H200'
keep t100 top
keys t100 q
sees t100 '^code=0'
lacks t100 'Server Metrics ·'
"$cache/aiperf" top --once "$url" | grep -q '  vLLM  running 0 requests'
stop

# Texts of a server that would clear the screen, set its title and write over it.
rm -f "$cache/hostile.port"
python3 hostile.py "$cache/hostile.port" &
server=$!
on_exit "kill $server 2>/dev/null"
wait_for test -s "$cache/hostile.port"
url=http://127.0.0.1:$(cat "$cache/hostile.port")
keys t100 "clear; $cache/aiperf profile --model m --tokenizer builtin --endpoint-type chat --url $url --isl 8 --concurrency 2 --request-rate 10 --benchmark-duration 600 --stats-interval 1 --no-fail-fast --artifact-dir hostile; echo code=\$?" Enter
sees t100 '╭─ Errors · [0-9]'
keys t100 8
sees t100 '^╭─ Errors'
sees t100 'OWNED'
sees t100 'Profiling .*AIPerf · m' # the first row is still the header
keep t100 hostile
[ "$(mux display-message -p -t =t100: '#{pane_title}')" != OWNED ]
keys t100 C-c
sees t100 '^code='
kill "$server"
wait "$server" 2>/dev/null || true
echo "The dashboard and aiperf top were seen in terminals of ${sizes[*]}."
