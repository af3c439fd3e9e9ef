#!/usr/bin/env bash
# Terraform without a cloud: terraform.sh plugins | terraform.sh ARGUMENT...
# `plugins` prints the folder of a plugin mirror on this machine that has the AWS provider, or says that there is none.
# Anything else goes to terraform, which asks no registry: `init` takes the provider from that folder.
set -euo pipefail

# The folders in which Terraform itself looks for mirrors, then where images of machines are used to keep one.
plugins() {
    local root found
    for root in "${HEADRACE_TERRAFORM_PLUGINS:-}" "${HOME:-}/.terraform.d/plugins" /usr/local/share/terraform/plugins \
        /usr/share/terraform/plugins /opt/*; do
        if [ -z "$root" ]; then continue; fi
        # Unpacked, or packed as `terraform providers mirror` leaves it.
        found="$(compgen -G "$root/registry.terraform.io/hashicorp/aws/*/*/terraform-provider-aws*" ||
            compgen -G "$root/registry.terraform.io/hashicorp/aws/terraform-provider-aws*.zip" || true)"
        if [ -n "$found" ]; then
            printf '%s\n' "$root"
            return
        fi
    done
    echo "no AWS provider plugin on this machine" >&2
    return 1
}

main() {
    # A configuration of the account's own may name a mirror that is not there.
    unset TF_CLI_CONFIG_FILE
    export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1
    case "${1:-}" in
    plugins) plugins ;;
    init) shift && exec terraform init -backend=false -input=false -plugin-dir="$(plugins)" "$@" ;;
    *) exec terraform "$@" ;;
    esac
}

main "$@"
