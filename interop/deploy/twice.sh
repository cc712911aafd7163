#!/usr/bin/env bash
# The files of a release from two copies of the source on two paths are the same: bash twice.sh [PLATFORMS], without
# PLATFORMS those of linux/amd64 and windows/arm64.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh twice
for copy in one 'another, longer path'; do
    rm -rf "${cache:?}/$copy"
    mkdir -p "$cache/$copy/source"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf -) | tar -C "$cache/$copy/source" -xf -
    go -C "$cache/$copy/source/tools" run ./dist -out "$cache/$copy/dist" -platforms "${1:-linux/amd64,windows/arm64}" -pgo off
done
diff "$cache/one/dist/SHA256SUMS" "$cache/another, longer path/dist/SHA256SUMS" || { echo 'two builds differ' >&2; exit 1; }
echo "two builds on two paths have the same $(wc -l <"$cache/one/dist/SHA256SUMS") files"
