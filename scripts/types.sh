#!/usr/bin/env bash
# Checks all types: types.sh MYPY
# A worker's folder may have a hyphen in its name and so be no package: its tests are top-level modules to mypy, and those
# of two workers would meet. Each worker's tests are therefore checked by themselves, over one cache.
set -euo pipefail

"$1" . --exclude '^workers/[^/]+/tests/'
for tests in workers/*/tests; do
    "$1" "$tests"
done
