# What `nix flake check` holds the tree to. Each check is a derivation that only says yes or no: it leaves an empty file,
# so that timings do not make it differ from one build to the next.
{
  lib,
  pkgs,
  images,
  ...
}@project:
let
  inTree = import ./in-tree.nix project;

  # Tests of how the local stack copes with what a build's sandbox has not: other accounts that could reach a folder, and
  # the wheels that carry servers. `make test` runs them.
  elsewhere = [
    "--ignore=tools/tests/dev/test_reach.py"
    "-knot(wheel)"
    "--deselect=tools/tests/dev/test_providers.py::test_a_program_of_the_machine_is_passed_over_when_it_does_not_run"
  ];
  ofLinux =
    lib.mapAttrs' (
      folder: _: lib.nameValuePair "${folder}-image" (import ./image.nix project folder)
    ) images
    // {
      reproducible = import ./reproducible.nix project;
      sbom = import ./sbom.nix project;
      terraform-inputs = import ./terraform-inputs.nix project;
    };
in
{
  lint = inTree "lint" "make --keep-going $targets" {
    targets = map (name: "check-${name}") [
      "ruff"
      "format"
      "deptry"
      "vulture"
      "interrogate"
      "typos"
      "shellcheck"
      "squawk"
      "env"
      "inputs"
    ];
  };
  types = inTree "types" "make check-mypy" { };
  # The layers by import-linter, the rules of the architecture by arch-check.
  contracts = inTree "contracts" "make --keep-going check-imports check-arch" { };
  # Unit tests, and every contract suite over the implementations in memory.
  unit = inTree "unit" ''
    pytest -q -m "not servers and not processes and not nix and not flake" --ignore tools/tests/new_worker $elsewhere
  '' { inherit elsewhere; };
  # The same suites over PostgreSQL and Redis, and whatever else needs them, on servers that the tests start here.
  integration = inTree "integration" ''
    pytest -q -m "servers and not processes and not pooler" --numprocesses 2 --dist loadfile $elsewhere
  '' {
    inherit elsewhere;
    servers = [
      pkgs.postgresql
      pkgs.redis
    ];
  };
  nix-unit = import ./nix-unit.nix project;
  module = import ./module project;
}
// lib.optionalAttrs (builtins.pathExists ../../tools/tests/new_worker) {
  generator = inTree "generator" "pytest -q tools/tests/new_worker" { };
}
// lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux ofLinux
// lib.optionalAttrs (builtins.pathExists ../vm/default.nix && pkgs ? testers) {
  integration-vm = import ../vm project;
}
