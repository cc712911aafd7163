#!/usr/bin/env bash
# Every attack of check.sh.
set -euo pipefail
exec bash "$(dirname "$0")/check.sh" full
