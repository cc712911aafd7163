#!/usr/bin/env bash
# check.sh with 5000 pairs.
exec bash "$(dirname "$0")/check.sh" 5000
