# size: a table of cases
# Tests of the NixOS module: what it makes of a configuration, and what it refuses.
{ lib, configOf, module, machine }:
let
  base = {
    imports = [ module ];
    services.headrace = {
      enable = true;
      database = {
        url = "postgresql://db.internal:5432/headrace";
        runtimePasswordFile = "/run/secrets/runtime";
        systemPasswordFile = "/run/secrets/system";
        migrationPasswordFile = "/run/secrets/migration";
      };
      redisUrlFile = "/run/secrets/redis";
      workers.maintenance.metricsPort = 9101;
    };
  };

  # What becomes of the base with a change of the service's options, and of one worker's.
  having = change: configOf [ base { services.headrace = change; } ];
  unitsHaving = change: (having change).systemd.services;
  workerHaving = change: (unitsHaving { workers.maintenance = change; }).headrace-maintenance;
  units = unitsHaving { };

  refusals = config: map (each: each.message) (lib.filter (each: !each.assertion) config.assertions);
  isEvaluated = value: (builtins.tryEval (builtins.deepSeq value true)).success;
in
{
  testNothingIsMadeWhenTheServiceIsNotEnabled = {
    expr = (configOf [ module ]).systemd.services;
    expected = { };
  };
  testEveryWorkerHasItsUnitsWhenSomeAreNamed = {
    expr = lib.attrNames (unitsHaving {
      workers.second = {
        worker = "maintenance";
        metricsPort = 9102;
        health.restartAfter = 3;
      };
    });
    expected = [
      "headrace-maintenance"
      "headrace-maintenance-health"
      "headrace-migrate"
      "headrace-second"
      "headrace-second-health"
      "headrace-second-restart"
    ];
  };
  testNoWorkerIsAskedWhenTheIntervalIsZero = {
    expr = lib.attrNames (unitsHaving { workers.maintenance.health.intervalSeconds = 0; });
    expected = [ "headrace-maintenance" "headrace-migrate" ];
  };
  testAWorkerWaitsForMigrationsWhenTheyAreEnabled = {
    expr = units.headrace-maintenance.requires;
    expected = [ "headrace-migrate.service" ];
  };
  testAWorkerOutlivesItsServersWhenTheyRestart = {
    expr =
      let
        unit = (unitsHaving { after = [ "postgresql.target" ]; }).headrace-maintenance;
        has = lib.elem "postgresql.target";
      in
      map has [ unit.after unit.wants unit.requires unit.bindsTo ];
    expected = [ true true false false ];
  };
  testSettingsBecomeVariablesWhenTheyAreOfAnyType = {
    expr =
      let
        inherit ((unitsHaving {
          settings = {
            capacity = 20;
            lease = "90s";
            database_transaction_pooler = true;
            allowed_networks = [ "10.0.0.0/8" ];
            cache_namespace = "a%b";
          };
        }).headrace-maintenance) environment;
      in
      map (name: environment."HEADRACE_${name}") [
        "CAPACITY"
        "LEASE"
        "DATABASE_TRANSACTION_POOLER"
        "ALLOWED_NETWORKS"
        "CACHE_NAMESPACE"
        "METRICS_PORT"
      ];
    expected = [ "20" "90s" "true" ''["10.0.0.0/8"]'' "a%%b" "9101" ];
  };
  testSecretsAreNoVariablesWhenAUnitIsMade = {
    expr = lib.filter (name: builtins.match ".*(PASSWORD|REDIS_URL).*" name != null) (
      lib.concatMap (unit: lib.attrNames unit.environment) (lib.attrValues units)
    );
    expected = [ ];
  };
  testOnlyMigrationsGetTheirLoginsPasswordWhenCredentialsAreLoaded = {
    expr = lib.attrNames (
      lib.filterAttrs (_: unit: lib.any (lib.hasInfix "migration") unit.serviceConfig.LoadCredential) units
    );
    expected = [ "headrace-migrate" ];
  };
  testTenantsSecretsAreCredentialsWhenFilesAreGiven = {
    expr =
      let
        unit = workerHaving { secretFiles.org_x_shop = "/run/secrets/shop"; };
      in
      [
        (lib.elem "org_x_shop:/run/secrets/shop" unit.serviceConfig.LoadCredential)
        unit.environment.HEADRACE_SECRETS_DIR
      ];
    expected = [ true "%d" ];
  };
  testTheStopTimeoutFollowsTheBudgetsWhenOnlyTheyAreSet = {
    expr =
      let
        unit = workerHaving { drainBudgetSeconds = 120; };
      in
      [
        unit.serviceConfig.TimeoutStopSec
        unit.environment.HEADRACE_STOP_WINDOW
        unit.environment.HEADRACE_DRAIN_BUDGET
      ];
    expected = [ 135 "135s" "120s" ];
  };
  testATooShortStopWindowIsRefusedWhenItIsSet = {
    expr = lib.length (refusals (having { workers.maintenance.stopWindowSeconds = 24; }));
    expected = 1;
  };
  testNothingIsRefusedWhenTheStopWindowJustFits = {
    expr = refusals (having { workers.maintenance.stopWindowSeconds = 25; });
    expected = [ ];
  };
  testASharedPortIsRefusedWhenTwoWorkersHaveIt = {
    expr = refusals (having {
      workers.second = {
        worker = "maintenance";
        metricsPort = 9101;
      };
    });
    expected = [ "services.headrace.workers: maintenance and second share the metricsPort 9101; expected one for each." ];
  };
  testAnUnknownWorkerIsRefusedWhenNoPackageHasIt = {
    expr = refusals (having { workers.typo.metricsPort = 9200; });
    expected = [ "services.headrace.workers.typo.worker: there is no worker typo in services.headrace.packages." ];
  };
  testACacheInMemoryIsRefusedWhenInProduction = {
    expr = lib.length (refusals (having { redisUrlFile = lib.mkForce null; }));
    expected = 1;
  };
  testAPasswordIsRefusedWhenItIsInTheUrl = {
    expr = isEvaluated (unitsHaving {
      database.url = lib.mkForce "postgresql://me:secret@db/headrace";
    }).headrace-migrate.environment;
    expected = false;
  };
  testASecretIsRefusedWhenItsFileIsInTheStore = {
    expr = isEvaluated (unitsHaving {
      redisUrlFile = lib.mkForce "${builtins.storeDir}/00000000000000000000000000000000-redis-url";
    }).headrace-maintenance.serviceConfig;
    expected = false;
  };
  testThePortIsOpenWhenThatIsAskedAlone = {
    expr = map (config: config.networking.firewall.allowedTCPPorts) [
      (having { })
      (having { workers.maintenance.openFirewall = true; })
    ];
    expected = [ [ ] [ 9101 ] ];
  };
  testTheScenariosMachineIsAcceptedWhenItIsEvaluated = {
    expr = [
      (refusals machine)
      (lib.filter (name: !lib.hasSuffix "-health" name) (lib.attrNames machine.systemd.services))
    ];
    expected = [
      [ ]
      [
        "headrace-dispatcher-a"
        "headrace-dispatcher-b"
        "headrace-maintenance"
        "headrace-migrate"
        "receiver"
      ]
    ];
  };
}
