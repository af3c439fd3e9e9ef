#!/usr/bin/env bash
# Nix for this tree: nix.sh build .#worker-image, nix.sh flake check, nix.sh run .#new-worker -- ...
# Where an offline lab is set up (in $NIX_LAB, or nix-lab in the cache folder), the flake's inputs come from there, so that
# everything is evaluated and built on a machine that reaches no binary cache; else this is plain nix.
# `nix.sh --has-lab` says whether there is one.
set -euo pipefail

lab="${NIX_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/nix-lab}"

has_lab() {
    [ -f "$lab/standin/host.nix" ]
}

# The lab's packages link to the machine's own programs, which a build must see.
sandbox_paths() {
    local python
    python="$(sed -n 's/.*python = "\(.*\)";/\1/p' "$lab/standin/host.nix")"
    printf '%s' "/usr /bin=/usr/bin /lib=/usr/lib /lib64=/usr/lib64 /etc/alternatives /etc/ssl $python"
}

main() {
    if [ "${1:-}" = --has-lab ]; then
        has_lab
        return
    fi
    local command=("$1")
    shift
    case "${command[0]}" in flake | store | derivation | path-info)
        # `nix flake check`: options follow the whole command.
        if [ "${command[0]}" != path-info ]; then
            command+=("$1")
            shift
        fi
        ;;
    esac
    local options=(--extra-experimental-features "nix-command flakes")
    if has_lab; then
        export NIX_SSL_CERT_FILE="${NIX_SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}"
        options+=(
            --option substitute false
            --option sandbox true
            --option build-users-group nixbld
            --option sandbox-paths "$(sandbox_paths)"
            --no-write-lock-file
            --override-input nixpkgs "path:$lab/standin"
            --override-input uv2nix "path:$lab/uv2nix"
            --override-input pyproject-nix "path:$lab/pyproject"
            --override-input pyproject-build-systems "path:$lab/build-systems"
        )
    fi
    exec nix "${command[@]}" "${options[@]}" "$@"
}

main "$@"
