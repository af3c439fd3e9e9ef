# What Terraform deploys: every worker's declaration and settings with the digest of its image. Python knows the settings
# classes and the schema; Nix knows the digests.
{ pkgs, lib, root, tools, ... }@project:
let
  inherit (import ./sources.nix { inherit lib; }) only;

  # The declarations, and the schema that is kept beside Terraform's files.
  declarations = only "headrace-declarations" root (
    path:
    builtins.any (pattern: builtins.match pattern path != null) [
      "workers(/[^/]+(/pyproject.toml)?)?"
      "deployment(/terraform(/workers.schema.json)?)?"
    ]
  );
in
pkgs.runCommand "headrace-terraform-inputs" { } ''
  mkdir $out
  inputs() { ${tools}/bin/python -m headrace.tools.terraform_inputs --root ${declarations} "$@"; }
  inputs --check
  inputs --images ${import ./images.nix project}/digests.json --output $out/workers.auto.tfvars.json
''
