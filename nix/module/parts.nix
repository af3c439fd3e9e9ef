# What units and the command line are made of: settings as variables, secrets as credentials, programs that read them.
{ lib, pkgs, cfg, systemd }:
let
  written =
    value:
    if builtins.isBool value || builtins.isList value || builtins.isAttrs value then
      builtins.toJSON value
    else
      toString value;
in
rec {
  # variables settings -> the environment of a process. In a unit a percent sign begins a specifier: see `inUnit`.
  variables = settings: lib.mapAttrs' (name: value: lib.nameValuePair "HEADRACE_${lib.toUpper name}" (written value)) settings;

  # inUnit variables -> the same as a unit's `environment` takes it.
  inUnit = lib.mapAttrs (_: lib.replaceStrings [ "%" ] [ "%%" ]);

  shared = {
    inherit (cfg) environment;
    database_url = cfg.database.url;
  }
  // lib.optionalAttrs (cfg.redisUrlFile != null) {
    cache_backend = "redis";
    topics_backend = "redis";
  }
  // cfg.settings;

  # The files that hold settings which are secret, by the setting's name.
  secrets = {
    database_runtime_password = cfg.database.runtimePasswordFile;
    database_system_password = cfg.database.systemPasswordFile;
  }
  // lib.optionalAttrs (cfg.redisUrlFile != null) { redis_url = cfg.redisUrlFile; };
  migrationSecrets = secrets // { database_migration_password = cfg.database.migrationPasswordFile; };

  # credentials files -> what systemd loads as root and shows to the unit alone.
  credentials = lib.mapAttrsToList (name: path: "${name}:${path}");

  # program { name, command, read } -> the path of a script that takes secret settings from files and becomes the command.
  # read: the setting's name -> its file as a word of the shell.
  program =
    { name, command, read }:
    pkgs.writeShellScript name ''
      set -euo pipefail
      ${lib.concatMapAttrsStringSep "\n" (setting: path: ''
        HEADRACE_${lib.toUpper setting}="$(<${path})"
        export HEADRACE_${lib.toUpper setting}'') read}
      exec ${command} "$@"
    '';

  systemctl = "${systemd}/bin/systemctl";

  # fromCredentials files -> where a unit finds them.
  fromCredentials = lib.mapAttrs (name: _: ''"$CREDENTIALS_DIRECTORY/${name}"'');

  # waitUntilReady probe -> a script for a unit that is active once its worker is ready, and fails when that ends before.
  waitUntilReady =
    probe:
    pkgs.writeShellScript "headrace-wait" ''
      set -euo pipefail
      until ${probe} --readiness; do
        kill -0 "$MAINPID"
        ${pkgs.coreutils}/bin/sleep 1
      done
    '';

  # probeAgain { probe, times, seconds } -> a script that succeeds with the first probe that does.
  probeAgain =
    { probe, times, seconds }:
    pkgs.writeShellScript "headrace-probe" ''
      for _ in $(${pkgs.coreutils}/bin/seq ${toString (times - 1)}); do
        if ${probe}; then exit; fi
        ${pkgs.coreutils}/bin/sleep ${toString seconds}
      done
      exec ${probe}
    '';

  # The command line with the installation's settings, for whoever may read the files.
  console = pkgs.writeShellScriptBin "headrace" ''
    set -euo pipefail
    ${lib.concatMapAttrsStringSep "\n" (name: value: "export ${name}=${lib.escapeShellArg value}") (variables shared)}
    exec ${
      program {
        name = "headrace-console";
        command = "${cfg.packages.console}/bin/headrace";
        read = lib.mapAttrs (_: lib.escapeShellArg) secrets;
      }
    } "$@"
  '';
}
