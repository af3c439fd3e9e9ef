# The NixOS options that our module and the integration test's machine set, and no other, so that both can be evaluated
# where there is no NixOS. Which file of nixpkgs declares each is told in nix/vm/README.md; types are theirs, shortened.
{ lib }:
let
  inherit (lib) mkOption types;
  option = type: default: mkOption { inherit type default; };
  unitName = types.strMatching "[a-zA-Z0-9@%:_.\\-]+[.](service|target|timer)";
  units = option (types.listOf unitName) [ ];
  section = option (types.attrsOf (types.oneOf [ types.bool types.int types.str types.path (types.listOf types.str) ])) { };

  unit = {
    description = option types.singleLineStr "";
    wantedBy = units;
    requires = units;
    wants = units;
    after = units;
    bindsTo = units;
    onFailure = units;
    unitConfig = section;
  };
  service = unit // {
    environment = option (types.attrsOf (types.nullOr types.str)) { };
    serviceConfig = section;
  };
  timer = unit // { timerConfig = section; };
  set = options: mkOption { type = types.attrsOf (types.submodule { inherit options; }); default = { }; };
in
{
  options = {
    assertions = option (types.listOf types.unspecified) [ ];
    environment.etc = set { text = mkOption { type = types.lines; }; };
    environment.systemPackages = option (types.listOf types.package) [ ];
    networking.firewall.allowedTCPPorts = option (types.listOf types.port) [ ];
    services.postgresql = {
      enable = option types.bool false;
      initialScript = option (types.nullOr types.path) null;
      settings.port = option types.port 5432;
    };
    services.redis.servers = set {
      enable = option types.bool false;
      port = option types.port 0;
    };
    systemd.package = mkOption { type = types.unspecified; };
    systemd.services = set service;
    systemd.timers = set timer;
    virtualisation.cores = option types.ints.positive 1;
    virtualisation.memorySize = option types.ints.positive 1024;
  };
}
