#!/usr/bin/env bash
# aiperf record in front of the mock server, and of a small server that answers the same bytes to everybody: the official
# packages of OpenAI and Anthropic through it, streamed and not, with tools and turns; WebSocket, HTTP/2, packed bodies, TLS
# on either side. What a client gets and what the server gets are the same as without the recorder, byte for byte, and each
# request has its row. Then the recorder stands between aiperf profile and the hostile servers of interop/hostile: every run
# ends as it does without it.
#
#   bash check.sh [quick]    quick makes a few attacks instead of all
#
#   INTEROP_CACHE=DIR  where packages and programs are kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh record
venv openai anthropic cohere huggingface_hub
build
work=$cache/work
rm -rf "$work"
mkdir -p "$work"

# recorder NAME UPSTREAM OPTION... starts a recorder and leaves its address in $url.
recorder() {
    start "$work/$1.log" "$cache/aiperf" record --upstream "$2" --listen 127.0.0.1:0 --out "$work/$1" "${@:3}"
    wait_for grep -q 'clients use ' "$work/$1.log"
    url=$(sed -n 's/.*clients use \([^ ]*\) .*/\1/p' "$work/$1.log")
}
python=$cache/venv/bin/python

mock_server "$work/mock.log" --ttft 5 --itl 1 --record-requests "$work/requests.jsonl" --record-bodies
mock=$url mocks=$server
recorder chat "$mock"
chat=$url chats=$server
"$python" check.py clients "$mock" "$chat"
stop "$chats"
stop "$mocks" # both write what is left
"$python" check.py rows "$work/chat" "$work/requests.jsonl"

# The same bytes, TLS on both sides, HTTP/2, WebSocket.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
start "$work/fixed.log" "$python" fixed.py
wait_for grep -q '^http://' "$work/fixed.log"
fixed=$(cat "$work/fixed.log")
recorder fixed "$fixed"
"$python" check.py bytes "$fixed" "$url"
stop
start "$work/tls.log" "$cache/aiperf" mock-server --port 0 --fast --tls-make "$work/upstream.pem"
wait_for grep -q 'listening on https://' "$work/tls.log"
secure=$(sed -n 's/.*listening on https:..127.0.0.1/https:\/\/localhost/p' "$work/tls.log")
recorder tls "$secure" --upstream-ca "$work/upstream.pem" --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"
for version in --http1.1 --http2; do
    curl -sS $version --cacert "$work/cert.pem" -w '\n%{http_version}\n' -H 'Content-Type: application/json' \
        -d '{"model":"m","max_tokens":3,"messages":[{"role":"user","content":"Hello there"}]}' \
        "${url/127.0.0.1/localhost}/v1/chat/completions" >"$work/reply$version"
    grep -q '"completion_tokens":3' "$work/reply$version"
    [ "$(tail -n 1 "$work/reply$version")" = "$(case $version in --http2) echo 2 ;; *) echo 1.1 ;; esac)" ]
done
stop
mock_server "$work/h2c.log" --fast
recorder h2c "$url" --upstream-http2
[ "$(curl -sS --http2-prior-knowledge -o /dev/null -w '%{http_version} %{http_code}' -d '{"model":"m","prompt":"x"}' "$url/v1/completions")" = '2 200' ]
stop
for name in tls h2c; do "$python" check.py outcomes "$work/$name"; done

(cd "$root" && go build -o "$cache/hostile" ./interop/hostile/{main,cases,servers,http2,recorder}.go)
timeout 1500 "$cache/hostile" "$cache/aiperf" "$cache" "${1:-full}" record
