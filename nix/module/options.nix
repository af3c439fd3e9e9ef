# The options of `services.headrace`. Times are whole seconds; files of secrets are named by path and never read while
# this is evaluated, so that no secret comes into the store.
{ lib, packages }:
let
  inherit (lib) mkEnableOption mkOption types;
  inherit (import ./types.nix { inherit lib; }) file settings secretFiles;
in
{
  enable = mkEnableOption "Headrace's workers, migrations and command line";

  packages = mkOption {
    type = types.attrsOf types.package;
    default = packages;
    defaultText = lib.literalExpression "the packages of Headrace's flake for this system";
    description = "The programs, by folder below `workers/`; `console` is the operators' command line.";
  };

  environment = mkOption {
    type = types.enum [ "local" "test" "staging" "production" ];
    default = "production";
    description = "Where the processes run. `staging` and `production` refuse what works on one machine only.";
  };

  database = {
    url = mkOption {
      type = types.strMatching "postgres(ql)?://[^@]+/.+";
      example = "postgresql://127.0.0.1:5432/headrace";
      description = "PostgreSQL server and database, without a login: each of the three logins has its own password.";
    };
    runtimePasswordFile = file "the password of the login that serves one tenant at a time";
    systemPasswordFile = file "the password of the login for statements across tenants";
    migrationPasswordFile = mkOption {
      type = types.nullOr types.externalPath;
      default = null;
      description = "File with the password of the login that owns the schemas; only migrations read it.";
    };
  };

  redisUrlFile = mkOption {
    type = types.nullOr types.externalPath;
    default = null;
    description = "File with `redis://:PASSWORD@HOST:PORT/0`. When set, the cache and the wake-ups use it.";
  };

  settings = settings "every process";
  secretFiles = secretFiles "every worker";

  after = mkOption {
    type = types.listOf types.str;
    default = [ ];
    example = [ "postgresql.target" ];
    description = "Units of this machine to start first. A worker outlives their restart.";
  };

  migrations = {
    enable = mkOption {
      type = types.bool;
      default = true;
      description = "Whether to bring the schemas up to date before workers start.";
    };
    timeoutSeconds = mkOption {
      type = types.ints.positive;
      default = 900;
      description = "How long migrations may take, in seconds.";
    };
  };

  console.enable = mkEnableOption "the command `headrace` for whoever may read the files of passwords";

  workers = mkOption {
    type = types.attrsOf (types.submodule (import ./worker.nix { inherit lib; }));
    default = { };
    example = lib.literalExpression ''{ maintenance.metricsPort = 9101; webhook-dispatcher.metricsPort = 9102; }'';
    description = "The worker processes by name; each becomes the unit `headrace-<name>`.";
  };
}
