#!/usr/bin/env bash
# Compares the mathematical equivalence of the graders with sympy's, on expressions and LaTeX that a seeded generator makes.
#
#   bash check.sh [PAIRS [SEED]]     (default: 500 pairs, about a minute; full.sh: 5000)
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh accuracy
venv 'sympy>=1.14'
build ./interop/accuracy
"$cache/venv/bin/python" "$here/equal.py" "$cache/accuracy" "${@:-500}"
