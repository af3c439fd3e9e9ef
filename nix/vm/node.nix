# The virtual machine of the integration test: PostgreSQL and Redis as services of their own, the three logins, the
# workers of workers.json as units of our module, a receiver of webhooks, and the operators' command line.
# Its passwords are those of a throwaway machine.
{ module }:
{ config, lib, pkgs, ... }:
let
  setup = lib.importJSON ./workers.json;
  database = "headrace";
  redisPort = 6379;
  secret = "org_${lib.replaceStrings [ "-" ] [ "" ] setup.org.id}_scenario";

  # Files with one value each, under /etc: an installation's would be under /run, put there by a secrets manager.
  files = lib.mapAttrs' (login: password: lib.nameValuePair "${login}-password" password) setup.passwords // {
    redis-url = "redis://127.0.0.1:${toString redisPort}/0";
    signing-secret = setup.org.signing_secret;
  };
  path = name: "/etc/headrace/${name}";

  logins = lib.replaceStrings (map (login: "@${login}@") (lib.attrNames setup.passwords)) (
    lib.attrValues setup.passwords
  ) (builtins.readFile ./logins.sql);

  # What the module has an option for is no setting there.
  own = [ "environment" "drain_budget" "flush_budget" "stop_window" ];
  wholeSeconds = name: lib.toInt (lib.removeSuffix "s" setup.settings.${name});
in
{
  imports = [ module ];

  environment.etc = lib.mapAttrs' (name: text: lib.nameValuePair "headrace/${name}" { inherit text; }) files;
  environment.systemPackages = [ pkgs.curl ];

  services.postgresql = {
    enable = true;
    initialScript = pkgs.writeText "logins.sql" "CREATE DATABASE ${database};\n\\connect ${database}\n${logins}";
  };
  services.redis.servers.headrace = {
    enable = true;
    port = redisPort;
  };

  services.headrace = {
    enable = true;
    inherit (setup.settings) environment;
    database = {
      url = "postgresql://127.0.0.1:${toString config.services.postgresql.settings.port}/${database}";
      runtimePasswordFile = path "runtime-password";
      systemPasswordFile = path "system-password";
      migrationPasswordFile = path "migration-password";
    };
    redisUrlFile = path "redis-url";
    secretFiles.${secret} = path "signing-secret";
    settings = removeAttrs setup.settings own;
    after = [ "postgresql.target" "redis-headrace.service" ];
    console.enable = true;
    workers = lib.mapAttrs (_: process: {
      inherit (process) worker;
      metricsPort = process.port;
      drainBudgetSeconds = wholeSeconds "drain_budget";
      flushBudgetSeconds = wholeSeconds "flush_budget";
      stopWindowSeconds = wholeSeconds "stop_window";
    }) setup.workers;
  };

  systemd.services.receiver = {
    description = "A receiver of webhooks that the scenario steers";
    wantedBy = [ "multi-user.target" ];
    serviceConfig = {
      DynamicUser = true;
      ExecStart = "${pkgs.python3.interpreter} ${./receiver.py} ${toString setup.receiver_port}";
    };
  };

  virtualisation = {
    cores = 2;
    memorySize = 2048;
  };
}
