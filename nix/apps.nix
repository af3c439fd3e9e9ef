# What `nix run` starts.
{
  lib,
  pkgs,
  programs,
  images,
  tools,
  ...
}@project:
let
  app = program: {
    type = "app";
    inherit program;
  };

  # The local stack on this machine's loopback, with the servers of nixpkgs; it keeps its data in ./.headrace.
  dev = pkgs.writeShellScript "headrace-dev" ''
    export PATH=${lib.makeBinPath [ pkgs.postgresql pkgs.redis ]}:$PATH
    exec ${tools}/bin/python -m headrace.tools.dev run "$@"
  '';
in
lib.mapAttrs (folder: program: app "${images.${folder}.environment}/bin/${program.program}") programs
// {
  dev = app "${dev}";
  # The generator changes the working tree that it is started in.
  new-worker = app "${tools}/bin/new-worker";
}
// lib.optionalAttrs (builtins.pathExists ./vm/default.nix && pkgs ? testers) {
  integration-vm = app (lib.getExe (import ./vm project).driverInteractive);
}
