#!/usr/bin/env bash
# Compares the graders of accuracy benchmarks with those of the original, installed from PyPI as a black box with its
# optional packages: both programs grade the same answers of the mock server, problem by problem. Needs about 8 GB.
#
#   bash accuracy.sh [GRADER...]
#
#   INTEROP_CACHE=DIR  where the virtual environment is kept (default: a directory that is removed)
#   CASES=N            answers for each grader (default: 2000)
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh reference-accuracy
original
venv 'aiperf==0.13.0' 'sympy>=1.14' 'latex2sympy2-extended>=1.0.6' 'lighteval>=0.13' 'deepeval>=2.9,<5'
build
export PYTHONDONTWRITEBYTECODE=1
"$cache/venv/bin/python" "$here/accuracy.py" "$cache/aiperf" "$cache/venv/bin/aiperf" "$cache/graders" "$@"
