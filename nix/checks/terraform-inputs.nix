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
  ${development}/bin/python -c '
  import json, sys, jsonschema
  inputs, schema = (json.load(open(name)) for name in sys.argv[1:])
  jsonschema.Draft202012Validator(schema).validate(inputs)
  ' ${made}/workers.auto.tfvars.json ${schema}
  touch $out
''
