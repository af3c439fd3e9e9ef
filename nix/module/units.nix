# size: what each kind of unit is told stands side by side, so that a difference is seen
# The units of `services.headrace`.
{ lib, cfg, parts }:
let
  hardening = import ./hardening.nix;

  # Every process: started once the machine's own servers are up, and not stopped with them.
  common = {
    wants = [ "network-online.target" ] ++ cfg.after;
    after = [ "network-online.target" ] ++ cfg.after;
  };

  # A process of ours under an account of its own that is gone with it.
  confined = hardening // {
    DynamicUser = true;
    WorkingDirectory = "/";
  };

  seconds = number: "${toString number}s";

  settingsOf =
    name: worker:
    parts.shared
    // {
      service = name;
      metrics_host = worker.metricsHost;
      metrics_port = worker.metricsPort;
      drain_budget = seconds worker.drainBudgetSeconds;
      flush_budget = seconds worker.flushBudgetSeconds;
      stop_window = seconds worker.stopWindowSeconds;
    }
    // worker.settings;

  secretFilesOf = worker: cfg.secretFiles // worker.secretFiles;

  # Tenants' secrets lie where systemd puts the credentials: %d.
  environmentOf =
    name: worker:
    parts.inUnit (parts.variables (settingsOf name worker))
    // lib.optionalAttrs (secretFilesOf worker != { }) {
      HEADRACE_SECRETS_BACKEND = "file";
      HEADRACE_SECRETS_DIR = "%d";
    };

  # call name worker subcommand -> the path of a script that runs the worker's program.
  call =
    name: worker: subcommand:
    parts.program {
      name = "headrace-${name}-${subcommand}";
      command = "${cfg.packages.${worker.worker}}/bin/${worker.program} ${subcommand}";
      read = parts.fromCredentials parts.secrets;
    };

  credentialsOf = worker: parts.credentials (parts.secrets // secretFilesOf worker);
  migrated = lib.optional cfg.migrations.enable "headrace-migrate.service";
in
{
  migrate = common // {
    description = "Headrace's schemas are brought up to date";
    wantedBy = [ "multi-user.target" ];
    environment = parts.inUnit (parts.variables parts.shared);
    serviceConfig = confined // {
      Type = "oneshot";
      RemainAfterExit = true;
      TimeoutStartSec = cfg.migrations.timeoutSeconds;
      MemoryDenyWriteExecute = true;
      LoadCredential = parts.credentials parts.migrationSecrets;
      ExecStart = parts.program {
        name = "headrace-migrate";
        command = "${cfg.packages.console}/bin/headrace migrate";
        read = parts.fromCredentials parts.migrationSecrets;
      };
    };
  };

  worker = name: worker: common // {
    description = "Headrace's worker ${name}";
    wantedBy = [ "multi-user.target" ];
    requires = migrated;
    after = common.after ++ migrated;
    environment = environmentOf name worker;
    # A worker waits for its servers for as long as it takes.
    unitConfig.StartLimitIntervalSec = 0;
    serviceConfig = confined // {
      Type = "exec";
      LoadCredential = credentialsOf worker;
      ExecStart = call name worker "serve";
      # The unit is active once the worker is ready.
      ExecStartPost = parts.waitUntilReady (call name worker "healthcheck");
      Restart = "always";
      RestartSec = worker.restartDelaySeconds;
      TimeoutStartSec = worker.startTimeoutSeconds;
      TimeoutStopSec = worker.stopWindowSeconds;
      KillSignal = "SIGTERM";
      KillMode = "mixed";
      MemoryDenyWriteExecute = worker.denyWriteExecute;
    }
    // lib.optionalAttrs (worker.memoryMaxMebibytes != null) { MemoryMax = "${toString worker.memoryMaxMebibytes}M"; };
  };

  # Succeeds when the worker is well; a monitor sees it fail, and it restarts the worker where that is wanted.
  health = name: worker: {
    description = "Whether Headrace's worker ${name} is well";
    environment = environmentOf name worker;
    onFailure = lib.optional (worker.health.restartAfter != null) "headrace-${name}-restart.service";
    serviceConfig = confined // {
      Type = "oneshot";
      LoadCredential = credentialsOf worker;
      MemoryDenyWriteExecute = worker.denyWriteExecute;
      ExecStart = parts.probeAgain {
        probe = call name worker "healthcheck";
        times = if worker.health.restartAfter == null then 1 else worker.health.restartAfter;
        seconds = worker.health.intervalSeconds;
      };
    };
  };

  # Runs with the worker and not longer.
  healthTimer = name: worker: {
    description = "Asks whether Headrace's worker ${name} is well";
    wantedBy = [ "headrace-${name}.service" ];
    bindsTo = [ "headrace-${name}.service" ];
    after = [ "headrace-${name}.service" ];
    timerConfig = {
      OnActiveSec = worker.health.intervalSeconds;
      OnUnitInactiveSec = worker.health.intervalSeconds;
      AccuracySec = "1s";
    };
  };

  restart = name: _worker: {
    description = "Headrace's worker ${name} is restarted since it was not well";
    serviceConfig = {
      Type = "oneshot";
      ExecStart = "${parts.systemctl} restart headrace-${name}.service";
    };
  };
}
