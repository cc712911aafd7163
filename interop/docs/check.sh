#!/usr/bin/env bash
# Builds the documentation as a site, where a warning fails, follows every link of its pages, opens three of them in a
# real browser, and runs the page of recipes with the Python packages that it uses. Needs node, npm and a browser, Debian's
# of which it installs where it may. Screenshots are left in $cache/shots (INTEROP_CACHE keeps them).
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: without the recipes
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh docs
browser
SITE_VENV=$cache/site-venv ../../tools/site/build "$cache/site"
python3 links.py "$cache/site"
cp check.mjs "$cache/"
start "$cache/http.log" python3 -u -m http.server --bind 127.0.0.1 --directory "$cache/site" 0
wait_for grep -q 'port [0-9]' "$cache/http.log"
port=$(grep -o 'port [0-9]*' "$cache/http.log" | head -n 1)
(cd "$cache" && node check.mjs "$chromium" "http://127.0.0.1:${port#port }" shots)
if [ "${1:-}" != quick ]; then
    venv pandas duckdb pyarrow
    (cd "$root" && PATH=$cache/venv/bin:$PATH go test -count=1 ./internal/cli -run 'TestDocumentedCommands/recipes$')
fi
