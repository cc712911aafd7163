#!/usr/bin/env bash
# The tests of packages, cross-compiled and run under Wine one package at a time, with a list of what passed, what failed and
# what was skipped with its reason:
#
#   tests.sh [PACKAGE...]   packages below internal/; without any, those that touch the system
#
#   INTEROP_CACHE=DIR  where the prefix, the logs (tests/) and the list (tests.txt) are kept
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh windows
. wine.sh
packages=("$@")
[ $# != 0 ] || packages=(base/artifact base/bounded base/clock base/neterr base/terminal base/webserver cli run load
    wire/client wire/control wire/plugin mockserver mockserver/httpd publish/page publish/progress publish/upload
    result/report result/recompute config/parse config/resolve config/file config/document workload/loader
    workload/hub workload/tokenizer/load experiment/server experiment/series view/web view/dashboard watch/trust
    watch/collect cluster/fleet)
mkdir -p "$cache/tests"
: >"$cache/tests.txt"
bad=0
for package in "${packages[@]}"; do
    log=$cache/tests/${package//\//_}.log
    (cd "$root" && GOOS=windows CGO_ENABLED=0 go test -v -count=1 -timeout 30m -exec "$wine" "./internal/$package") \
        >"$log" 2>&1 || bad=1
    count() { grep -Ec -- "^ *--- $1" "$log" || true; }
    {
        printf '%s: %s passed, %s failed, %s skipped\n' "$package" "$(count PASS)" "$(count FAIL)" "$(count SKIP)"
        grep -E -- '^ *--- FAIL' "$log" || true
        # The reason of a skip is the line of the test before its result.
        awk '/^ *--- SKIP/ { print "    skipped: " $3 ": " reason } { reason = $0; sub(/^ */, "", reason) }' "$log"
    } | tee -a "$cache/tests.txt"
done
exit $bad
