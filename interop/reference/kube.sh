#!/usr/bin/env bash
# Manifests of this program beside those of the original, for the same command lines: bash kube.sh. It prints which facts
# are equal and why the others differ; a difference without a reason fails.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh reference
original
build
HOME=$cache KUBECONFIG=/nonexistent PYTHONDONTWRITEBYTECODE=1 "$cache/venv/bin/python" "$here/kube.py" \
    "$cache/venv/bin/aiperf" "$cache/aiperf"
