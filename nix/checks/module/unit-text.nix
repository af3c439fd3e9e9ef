# Units as files, for systemd to judge: `systemd-analyze verify result/*`.
{ lib, pkgs }:
let
  shown =
    value:
    if value == true then
      "true"
    else if value == false then
      "false"
    else
      toString value;

  line = key: value: "${key}=${shown value}\n";
  lines = key: value: lib.concatMapStrings (line key) (lib.toList value);
  section = name: values: "[${name}]\n" + lib.concatStrings (lib.mapAttrsToList lines values);

  relations =
    unit:
    lib.filterAttrs (_: names: names != "") {
      Requires = toString unit.requires;
      Wants = toString unit.wants;
      After = toString unit.after;
      BindsTo = toString unit.bindsTo;
      OnFailure = toString unit.onFailure;
    };

  serviceOf =
    unit:
    unit.serviceConfig
    // {
      Environment = lib.mapAttrsToList (name: value: builtins.toJSON "${name}=${value}") unit.environment;
    };

  textOf =
    unit:
    section "Unit" ({ Description = unit.description; } // relations unit // unit.unitConfig)
    + lib.optionalString (unit ? timerConfig) (section "Timer" unit.timerConfig)
    + lib.optionalString (unit ? serviceConfig) (section "Service" (serviceOf unit));
in
{
  # filesOf suffix units -> a file for each of them.
  filesOf =
    suffix: units:
    lib.mapAttrsToList (name: unit: pkgs.writeText "${name}.${suffix}" (textOf unit)) units;
}
