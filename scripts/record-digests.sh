#!/usr/bin/env bash
# Gathers the digests of a commit's images and records them once: record-digests.sh FOLDER RECORD OUTPUT
# FOLDER holds a JSON object for each image, RECORD is where the whole goes (s3://... or a file), OUTPUT a copy of it.
# A record that is there already must say the same: a commit is built once, and what ran is what runs.
set -euo pipefail

folder="$1" record="$2" output="$3"
gathered="$(jq --slurp --sort-keys 'add' "$folder"/*.json)"

fetch() {
    case "$record" in
    s3://*) aws s3 cp --quiet "$record" - ;;
    *) cat "$record" ;;
    esac
}

# Fails where something is there: neither of two runs at once can overwrite the other's.
store() {
    local bucket="${record#s3://}"
    case "$record" in
    s3://*) aws s3api put-object --if-none-match '*' --bucket "${bucket%%/*}" --key "${bucket#*/}" --body "$output" >/dev/null ;;
    *) (set -o noclobber && cat "$output" >"$record") ;;
    esac
}

printf '%s\n' "$gathered" >"$output"
if store 2>/dev/null; then exit; fi
if ! recorded="$(fetch)"; then
    echo "$record can be neither written nor read" >&2
    exit 1
fi
if [ "$(jq --sort-keys . <<<"$recorded")" != "$gathered" ]; then
    echo "$record is there already and names other digests; a commit is not built twice" >&2
    exit 1
fi
