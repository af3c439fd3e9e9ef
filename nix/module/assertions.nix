# What cannot work is refused while the system is evaluated, in a sentence that names the option.
{ lib, cfg }:
let
  enabled = lib.filterAttrs (_: worker: worker.enable) cfg.workers;
  ports = lib.groupBy (name: toString enabled.${name}.metricsPort) (lib.attrNames enabled);
  isCloud = lib.elem cfg.environment [ "staging" "production" ];

  # What the program itself takes to close, beyond both budgets; it refuses less at its start.
  margin = 5;

  ofWorker = name: worker: [
    {
      assertion = worker.stopWindowSeconds >= worker.drainBudgetSeconds + worker.flushBudgetSeconds + margin;
      message = "services.headrace.workers.${name}.stopWindowSeconds: expected at least ${toString margin} above drainBudgetSeconds and flushBudgetSeconds together.";
    }
    {
      assertion = cfg.packages ? ${worker.worker};
      message = "services.headrace.workers.${name}.worker: there is no worker ${worker.worker} in services.headrace.packages.";
    }
  ];

  ofPort = port: names: {
    assertion = lib.length names == 1;
    message = "services.headrace.workers: ${lib.concatStringsSep " and " names} share the metricsPort ${port}; expected one for each.";
  };
in
lib.concatLists (lib.mapAttrsToList ofWorker enabled)
++ lib.mapAttrsToList ofPort ports
++ [
  {
    assertion = isCloud -> cfg.redisUrlFile != null;
    message = "services.headrace.redisUrlFile: expected to be set in ${cfg.environment}, where a cache in memory is refused.";
  }
  {
    assertion = cfg.migrations.enable -> cfg.database.migrationPasswordFile != null;
    message = "services.headrace.database.migrationPasswordFile: expected to be set, since migrations.enable is.";
  }
]
