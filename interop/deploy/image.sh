#!/usr/bin/env bash
# The image from two copies of the source on two paths has one digest, and is read back: bash image.sh.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/a longer path/copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf -) |
    tar -C "$made/a longer path/copy" -xf -
go -C "$root/tools" run ./image -out "$made/one" >"$made/one.txt"
go -C "$made/a longer path/copy/tools" run ./image -out "$made/other" >"$made/other.txt"
one=$(sed 's/.*: //' "$made/one.txt") other=$(sed 's/.*: //' "$made/other.txt")
[ -n "$one" ] && [ "$one" = "$other" ] || { echo "two builds differ: $one and $other" >&2; exit 1; }
go -C "$root/tools" run ./image -out "$made/one" -check
echo "two builds on two paths have the digest $one"
