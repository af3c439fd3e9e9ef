#!/usr/bin/env bash
# Builds each program's Dockerfile and runs the image as the tests would: images.sh [NAME...]; all where none is named.
# PYTHON_IMAGE names another base. Where none is given and no registry answers, one is made of Debian's packages.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
own_base=localhost/headrace-base:trixie

fail() {
    echo "$1" >&2
    exit 1
}

# Where a runtime may raise no limit, the containers of a build live with those that there are.
build() {
    local name="$1" base="$2" bundle=/etc/ssl/certs/ca-certificates.crt options=()
    # What this machine trusts, a build on it trusts too: it may stand behind an authority of its own.
    if [ -f "$bundle" ]; then options+=(--volume "$bundle:$bundle:ro"); fi
    podman build --quiet --format docker --network host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "${options[@]}" \
        --build-arg "PYTHON_IMAGE=$base" --file "deployment/docker/$name.Dockerfile" --tag "localhost/headrace-$name:check" .
}

default_base() {
    sed -n 's/^ARG PYTHON_IMAGE=//p' deployment/docker/console.Dockerfile
}

# Prints the base to build on: the one given, the Dockerfiles' own, or one of Debian's packages.
base() {
    local named folder
    named="${PYTHON_IMAGE:-$(default_base)}"
    if podman image exists "$named" || podman pull --quiet "$named" >/dev/null 2>&1; then
        echo "$named"
    elif [ -n "${PYTHON_IMAGE:-}" ]; then
        fail "PYTHON_IMAGE: $named is neither here nor to be had"
    elif podman image exists "$own_base"; then
        echo "$own_base"
    elif ! command -v debootstrap >/dev/null; then
        fail "no registry gives $named, and debootstrap is not here to make a base of (Debian: apt install debootstrap)"
    else
        folder="$(mktemp --directory)"
        trap 'rm -rf "$folder"' EXIT
        debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv,tzdata trixie "$folder" >&2
        tar --directory "$folder" --exclude=./var/cache --exclude=./dev --create . | podman import --quiet - "$own_base" >&2
        echo "$own_base"
    fi
}

# An image goes through an archive: it is run in a storage and a network of its own.
judge() {
    local name="$1" archive="$2/$1.tar"
    podman save --quiet --format docker-archive --output "$archive" "localhost/headrace-$name:check" &&
        .venv/bin/python -m headrace.tools.image_smoke --archive "$archive" --worker "$name" && rm "$archive"
}

main() {
    local on name archives failed=() names=("$@")
    if ! command -v podman >/dev/null; then
        fail "no podman on PATH, so no image was built: install it (Debian: apt install podman runc)"
    fi
    if [ "$(id -u)" -ne 0 ]; then fail "an image is run in a network of its own, which takes root: start this with sudo"; fi
    # From the projects: a test holds the folder to them.
    if [ "${#names[@]}" -eq 0 ]; then
        for name in deployment/docker/*.Dockerfile; do names+=("$(basename "$name" .Dockerfile)"); done
    fi
    on="$(base)"
    archives="$(mktemp --directory)"
    trap 'rm -rf "$archives"' EXIT
    for name in "${names[@]}"; do
        [ -f "deployment/docker/$name.Dockerfile" ] || fail "deployment/docker/$name.Dockerfile is not there"
        echo "$name, on $on"
        build "$name" "$on"
        judge "$name" "$archives" || failed+=("$name")
    done
    if [ "${#failed[@]}" -ne 0 ]; then fail "not as they should be: ${failed[*]}"; fi
}

main "$@"
