#!/usr/bin/env bash
# Checks types: types.sh MYPY [PATH...], everything where no path is given.
# mypy's own settings cannot look for folders, so the workers' sources are put on its path here.
# A worker's folder may have a hyphen in its name and so be no package: its tests are top-level modules to mypy, and those
# of two workers would meet. Each worker's tests are therefore checked by themselves, over one cache.
set -euo pipefail

mypy="$1"
shift
MYPYPATH="$(printf '%s:' "$PWD"/workers/*/src)"
export MYPYPATH="${MYPYPATH%:}"

if [ $# -gt 0 ]; then
    exec "$mypy" "$@"
fi
"$mypy" . --exclude '^workers/[^/]+/tests/'
for tests in workers/*/tests; do
    "$mypy" "$tests"
done
