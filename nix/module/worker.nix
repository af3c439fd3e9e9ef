# One worker process.
{ lib }:
let
  inherit (lib) mkEnableOption mkOption types;
  inherit (import ./types.nix { inherit lib; }) settings secretFiles;
  seconds =
    default: description:
    mkOption {
      type = types.ints.unsigned;
      inherit default;
      description = "${description}, in seconds.";
    };
in
{ name, config, ... }:
{
  options = {
    enable = mkEnableOption "this worker" // { default = true; };
    worker = mkOption {
      type = types.str;
      default = name;
      defaultText = lib.literalExpression "<name>";
      description = "Which worker runs: its folder below `workers/`. Several processes may run the same one.";
    };
    program = mkOption {
      type = types.str;
      default = "headrace-${config.worker}";
      defaultText = lib.literalExpression ''"headrace-''${worker}"'';
      description = "The program in the worker's package.";
    };
    metricsPort = mkOption {
      type = types.port;
      description = "Port of metrics and probes; each process of a machine has its own.";
    };
    metricsHost = mkOption {
      type = types.str;
      default = "127.0.0.1";
      description = "Address that metrics and probes listen on.";
    };
    openFirewall = mkEnableOption "access to the metrics port from other machines";
    settings = settings "this process";
    secretFiles = secretFiles "this process";
    drainBudgetSeconds = seconds 15 "How long items have to end when the worker stops";
    flushBudgetSeconds = seconds 5 "How long the last settlements have to be written when the worker stops";
    stopWindowSeconds = seconds (
      config.drainBudgetSeconds + config.flushBudgetSeconds + 10
    ) "How long systemd waits between SIGTERM and SIGKILL; at least 5 above both budgets" // {
      defaultText = lib.literalMD "10 above both budgets";
    };
    startTimeoutSeconds = seconds 90 "How long the worker has to become ready";
    restartDelaySeconds = seconds 5 "How long after an unwanted end the worker starts again";
    memoryMaxMebibytes = mkOption {
      type = types.nullOr types.ints.positive;
      default = null;
      description = "Memory above which the process is killed, in MiB; null sets no bound.";
    };
    denyWriteExecute = mkOption {
      type = types.bool;
      default = true;
      description = "Whether memory may be writable or executable but never both; a library that compiles at run time needs false.";
    };
    health = {
      intervalSeconds = seconds 30 "How often the worker is asked whether it is well; 0 never asks";
      restartAfter = mkOption {
        type = types.nullOr types.ints.positive;
        default = null;
        description = "Restart the worker after so many failed probes in a row; null only lets the health unit fail.";
      };
    };
  };
}
