# The NixOS module `services.headrace`: any worker as a hardened systemd unit, migrations before them, and the operators'
# command line. packagesOf system -> the flake's packages by folder below workers/.
packagesOf:
{ config, lib, pkgs, ... }:
let
  cfg = config.services.headrace;
  parts = import ./module/parts.nix {
    inherit lib pkgs cfg;
    systemd = config.systemd.package;
  };
  units = import ./module/units.nix { inherit lib cfg parts; };
  enabled = lib.filterAttrs (_: worker: worker.enable) cfg.workers;
  probed = lib.filterAttrs (_: worker: worker.health.intervalSeconds > 0) enabled;

  # A unit of each worker, by the unit's name.
  named =
    suffix: unit:
    lib.mapAttrs' (name: worker: lib.nameValuePair "headrace-${name}${suffix}" (unit name worker));
in
{
  options.services.headrace = import ./module/options.nix {
    inherit lib;
    packages = packagesOf pkgs.stdenv.hostPlatform.system;
  };

  config = lib.mkIf cfg.enable {
    assertions = import ./module/assertions.nix { inherit lib cfg; };

    systemd.services =
      lib.optionalAttrs cfg.migrations.enable { headrace-migrate = units.migrate; }
      // named "" units.worker enabled
      // named "-health" units.health probed
      // named "-restart" units.restart (lib.filterAttrs (_: worker: worker.health.restartAfter != null) probed);

    systemd.timers = named "-health" units.healthTimer probed;

    environment.systemPackages = lib.optional cfg.console.enable parts.console;

    networking.firewall.allowedTCPPorts = map (worker: worker.metricsPort) (
      lib.filter (worker: worker.openFirewall) (lib.attrValues enabled)
    );
  };
}
