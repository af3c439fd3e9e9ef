#!/usr/bin/env bash
# Checks that each member of the workspace declares what it imports: deptry.sh DEPTRY MEMBER...
# Our own distributions share the package `headrace`, which deptry cannot tell apart: import-linter holds those.
set -euo pipefail

deptry="$(realpath "$1")"
shift
ours="$(sed -n 's/^name = "\(.*\)"$/\1/p' "${@/%//pyproject.toml}" | paste -sd "|")"
# Data that the standard library reads by itself: nothing imports it.
data=tzdata
failed=0
for member in "$@"; do
    echo "== $member"
    (cd "$member" && "$deptry" src --no-ansi --known-first-party headrace --per-rule-ignores "DEP002=$ours|$data") || failed=1
done
exit "$failed"
