#!/usr/bin/env bash
# Nix for this tree: nix.sh build .#worker-image, nix.sh flake check, nix.sh run .#new-worker -- ...
# Where an offline lab is set up (in $NIX_LAB, or nix-lab in the cache folder), the flake's inputs come from there, so that
# everything is evaluated and built on a machine that reaches no binary cache; else this is plain nix.
# `nix.sh --has-lab` says whether there is one, `nix.sh --takes-folder` whether Nix can evaluate a flake in this folder.
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

# A flake's folder becomes a URL, and older ones (Nix 2.8 among them) do not quote a space in it.
takes_folder() {
    case "$PWD" in *[[:space:]]*) ;; *) return ;; esac
    if nix --extra-experimental-features "nix-command flakes" flake metadata . --no-write-lock-file >/dev/null 2>&1; then
        return
    fi
    echo "nix.sh: this Nix evaluates no flake in a folder whose path has a space: $PWD; move the tree" >&2
    return 1
}

main() {
    case "${1:-}" in
    --has-lab)
        has_lab
        return
        ;;
    --takes-folder)
        takes_folder
        return
        ;;
    esac
    takes_folder
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
