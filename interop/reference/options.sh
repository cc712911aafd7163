#!/usr/bin/env bash
# Compares internal/cli/testdata/options-0.13.tsv with the help of the original, installed from PyPI as a black box, and
# gives each spelling of an option, with values of its kind, to the command lines of both programs: what one accepts and
# the other rejects is listed.
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh reference
original
build
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$cache/options"
cd "$cache/options" # the original leaves a folder where it starts
table=$root/internal/cli/testdata/options-0.13.tsv
status=0
"$cache/venv/bin/python" "$here/options.py" names "$table" || status=1
"$cache/venv/bin/python" "$here/options.py" spellings "$table" "$cache/aiperf" || status=1
exit $status
