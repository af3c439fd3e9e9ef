# A program of the tree as an OCI image. Each distribution is a layer of its own, so a change to our code ships that
# distribution, the links that lead to it and the image's configuration, and nothing else.
{
  lib,
  pkgs,
  pythonSet,
  environmentOf,
  # Where and when the source is from: { url, revision, date } with the date as YYYYMMDDhhmmss in UTC.
  origin,
}:
program:
let
  environment = environmentOf program;
  user = "65532";
  secondsOf = seconds: seconds * 1000000000;

  # YYYYMMDDhhmmss -> RFC 3339
  created =
    let
      part = start: length: builtins.substring start length origin.date;
    in
    "${part 0 4}-${part 4 2}-${part 6 2}T${part 8 2}:${part 10 2}:${part 12 2}Z";

  filesystem = import ./filesystem.nix {
    inherit
      pkgs
      pythonSet
      environment
      program
      user
      ;
  };

  arguments = {
    name = program.image;
    tag = origin.revision;
    inherit created;
    contents = [ filesystem ];
    extraCommands = "mkdir -m 1777 tmp";
    maxLayers = 120;
    config = {
      Entrypoint = [ "/bin/${program.program}" ];
      Cmd = lib.optional (program.worker != null) "serve";
      User = "${user}:${user}";
      WorkingDir = "/tmp";
      Env = [
        "PATH=/bin"
        "HEADRACE_METRICS_HOST=0.0.0.0"
        "HOME=/tmp"
        "LANG=C.UTF-8"
        "PYTHONDONTWRITEBYTECODE=1"
        "PYTHONUNBUFFERED=1"
        "PYTHONUTF8=1"
        "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"
      ];
      StopSignal = "SIGTERM";
      Labels = {
        "org.opencontainers.image.title" = program.image;
        "org.opencontainers.image.source" = origin.url;
        "org.opencontainers.image.revision" = origin.revision;
        "org.opencontainers.image.created" = created;
        "org.opencontainers.image.licenses" = "MIT";
      };
    }
    // lib.optionalAttrs (program.worker != null) {
      ExposedPorts."${toString program.worker.metrics_port}/tcp" = { };
      Healthcheck = {
        Test = [
          "CMD"
          "/bin/${program.program}"
          "healthcheck"
        ];
        Interval = secondsOf 10;
        Timeout = secondsOf 5;
        StartPeriod = secondsOf 30;
        Retries = 3;
      };
    };
  };
in
{
  inherit environment filesystem;

  # A script that writes the image to standard output, without a copy in the store.
  stream = pkgs.dockerTools.streamLayeredImage arguments;

  # The image as one file. Not compressed: a registry compresses each layer by itself, and every engine reads it.
  archive = pkgs.dockerTools.buildLayeredImage (arguments // { compressor = "none"; });
}
