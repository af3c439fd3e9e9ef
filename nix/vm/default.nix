# The integration test: the scenario on a virtual machine. `nix flake check` runs it where there is KVM;
# `nix run .#integration-vm` opens the driver, in which `test_script()` plays it and `machine.shell_interact()` looks around.
{ lib, pkgs, self, ... }:
let
  # The scenario for the test driver's Python, with the file that it shares with the machine.
  scenario =
    packages:
    packages.toPythonModule (
      pkgs.runCommand "headrace-scenario" { } ''
        target=$out/${packages.python.sitePackages}/headrace_scenario
        mkdir -p $target
        cp ${./machine.py} $target/machine.py
        cp ${./scenario.py} $target/scenario.py
        cp ${./site.py} $target/site.py
        cp ${./units.py} $target/units.py
        cp ${./workers.json} $target/workers.json
        touch $target/__init__.py $target/py.typed
      ''
    );
in
pkgs.testers.runNixOSTest {
  name = "headrace-integration";
  nodes.machine = import ./node.nix { module = self.nixosModules.default; };
  extraPythonPackages = packages: [ (scenario packages) ];
  globalTimeout = 1800;
  testScript = ''
    from headrace_scenario.scenario import STEPS, run_step
    from headrace_scenario.site import Site
    from headrace_scenario.units import UnitMachine

    machine.wait_for_unit("multi-user.target")
    with subtest("everything comes up"):
        site = Site.prepare(UnitMachine(machine.execute))
    for step in STEPS:
        with subtest(step.title):
            run_step(site, step)
  '';
}
