# Sourced by the checks: leaves in $cache a directory for the check's name ($1). INTEROP_CACHE=DIR keeps it there
# between runs; otherwise it is removed at the end. on_exit COMMAND runs a command at the end, too.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -n "${INTEROP_CACHE:-}" ]; then
    cache=$INTEROP_CACHE/$1
    mkdir -p "$cache"
else
    cache=$(mktemp -d)
fi
at_exit=()
on_exit() { at_exit+=("$1"); }
finish() {
    local command
    for command in "${at_exit[@]}"; do eval "$command" || true; done
    [ -n "${INTEROP_CACHE:-}" ] || rm -rf "$cache"
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

# build leaves the program in $cache/aiperf.
build() { (cd "$root" && CGO_ENABLED=0 go build -o "$cache/aiperf" ./cmd/aiperf); }

# ranks prints the path of the o200k_base rank file, out of the Go module that carries it.
ranks() {
    local dir
    dir=$(cd "$cache" && GOFLAGS=-mod=mod go mod download -json github.com/pkoukk/tiktoken-go-loader@v0.0.2 | python3 -c 'import json,sys; print(json.load(sys.stdin)["Dir"])')
    printf '%s/assets/o200k_base.tiktoken' "$dir"
}

# free_port prints a port that nobody listens on.
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
