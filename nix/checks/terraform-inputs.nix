# Whether what Terraform deploys follows the schema that is kept beside Terraform's files.
{
  pkgs,
  root,
  development,
  ...
}@project:
let
  made = import ../terraform-inputs.nix project;
  schema = builtins.path { path = root + "/deployment/terraform/workers.schema.json"; };
in
pkgs.runCommand "headrace-check-terraform-inputs" { } ''
  export HOME=$TMPDIR
  ${development}/bin/check-jsonschema --schemafile ${schema} ${made}/workers.auto.tfvars.json
  touch $out
''
