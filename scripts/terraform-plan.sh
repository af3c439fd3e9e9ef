#!/usr/bin/env bash
# Plans an environment with recorded digests: terraform-plan.sh ENVIRONMENT DIGESTS|--init-only BUCKET
# Writes release.tfplan beside the configuration. The environment's own values come from the variable TFVARS, as the text
# of a terraform.tfvars, where there is no such file.
set -euo pipefail

environment="$1" digests="$2" bucket="$3"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder="deployment/terraform/environments/$environment"

terraform -chdir="$folder" init -input=false -backend-config="bucket=$bucket" \
    -backend-config="key=headrace/$environment.tfstate"
if [ "$digests" = --init-only ]; then exit; fi

make --no-print-directory --silent setup
.venv/bin/python -m headrace.tools.terraform_inputs --images "$digests" --output "$folder/workers.auto.tfvars.json"
if [ -n "${TFVARS:-}" ]; then printf '%s\n' "$TFVARS" >"$folder/terraform.tfvars"; fi
terraform -chdir="$folder" plan -input=false -out=release.tfplan
