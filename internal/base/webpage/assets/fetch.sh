#!/usr/bin/env bash
# Fetches the chart library anew from npm, at its pinned version, and checks that it is what stands here.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent uplot@1.6.32 >/dev/null
tar xzf uplot-1.6.32.tgz
cp package/dist/uPlot.iife.min.js package/dist/uPlot.min.css "$here"
cp package/LICENSE "$here/uPlot.LICENSE"
cd "$here"
sha256sum -c SHA256SUMS
