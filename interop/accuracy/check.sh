#!/usr/bin/env bash
# Compares the mathematical equivalence of the graders with sympy's, on expressions and LaTeX that a seeded generator makes.
#
#   check.sh [PAIRS [SEED]]     500 pairs without arguments; full.sh: 5000
#   check.sh quick              what runs in CI: 100 pairs
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh accuracy
venv 'sympy>=1.14'
build ./interop/accuracy
[ "${1:-}" != quick ] || set -- 100
"$cache/venv/bin/python" "$here/equal.py" "$cache/accuracy" "${@:-500}"
