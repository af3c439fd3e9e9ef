# Our NixOS module, evaluated over the options that NixOS has: what it makes of a configuration and what it refuses. The
# integration test's machine is evaluated with it; its units are built as NixOS writes them, and its scenario is imported.
{ lib, pkgs, self, ... }:
let
  configOf =
    modules:
    (lib.evalModules {
      specialArgs = { inherit pkgs; };
      modules = [
        (import ./nixos-options.nix { inherit lib; })
        { systemd.package = "/usr"; }
      ]
      ++ modules;
    }).config;

  module = self.nixosModules.default;
  machine = configOf [ (import ../../vm/node.nix { inherit module; }) ];
  failed = lib.runTests (import ./tests.nix { inherit lib configOf module machine; });

  # The integration test with its machine left out: what remains needs no NixOS.
  scenario = import ../../vm {
    inherit lib self;
    pkgs = pkgs // {
      testers.runNixOSTest = test: test;
    };
  };
  packages = {
    python = pkgs.python313;
    toPythonModule = package: package;
  };

  inherit (import ./unit-text.nix { inherit lib pkgs; }) filesOf;
in
if failed != [ ] then
  throw "Tests of the NixOS module failed:\n${lib.generators.toPretty { } failed}"
else
  pkgs.runCommand "headrace-check-module"
    {
      units = filesOf "service" machine.systemd.services ++ filesOf "timer" machine.systemd.timers;
      scenario = scenario.extraPythonPackages packages;
      script = pkgs.writeText "test-script.py" scenario.testScript;
    }
    ''
      export PYTHONPATH=$scenario/${pkgs.python313.sitePackages} PYTHONDONTWRITEBYTECODE=1
      ${pkgs.python313.interpreter} -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' $script
      ${pkgs.python313.interpreter} -c 'import headrace_scenario.scenario, headrace_scenario.units'
      mkdir $out
      for unit in $units; do ln -s $unit $out/''${unit#*-}; done
    ''
