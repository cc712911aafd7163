#!/usr/bin/env bash
# Compares our parser of metrics pages with Prometheus' own: textparse, which its server scrapes with, and expfmt,
# which its exporters and tools use. Then shows how fast each reads the same page.
#
#   check.sh          all of it
#   check.sh quick    what runs in CI: no comparison of speed
set -euo pipefail
cd "$(dirname "$0")"
go test ./...
[ "${1:-}" != quick ] || exit 0
go vet ./...
go test -run '^$' -bench . -benchtime 100x ./...
