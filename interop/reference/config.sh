#!/usr/bin/env bash
# Gives configuration files to the original, installed from PyPI as a black box, and to ours: each template that the
# original's config init prints, and small files of our own for each key. Compared are what is accepted and the complete
# configuration that config expand prints, key by key; what may differ, and why, is in configdifferences.tsv. Then both
# run a few files against a mock server, and the configurations that they export are compared.
#
#   INTEROP_CACHE=DIR             where the virtual environment is kept (default: a directory that is removed)
#   ONLY=templates|cases|runs     one part alone
#   CASE=PATTERN                  only the small files whose name fits
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
. ../cache.sh reference
original
build
export PYTHONDONTWRITEBYTECODE=1
rm -rf "$cache/config"
mkdir -p "$cache/config"
cd "$cache/config" # the original leaves a folder where it starts
mock_server server.log --ttft 5 --itl 1
status=0
for part in ${ONLY:-templates cases runs}; do
    "$cache/venv/bin/python" "$here/config.py" "$part" "$cache/aiperf" "$url" || status=1
done
# With all parts and all cases every row of the table has its difference.
if [ -z "${ONLY:-}${CASE:-}" ]; then
    "$cache/venv/bin/python" "$here/config.py" rows || status=1
fi
exit $status
