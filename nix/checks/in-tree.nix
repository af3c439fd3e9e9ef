# inTree name script { attributes, servers }: runs a script in a copy of the working tree, with every member installed from
# there, as `make setup` does it, and the tools of the dependency group `dev` on PATH.
{
  lib,
  pkgs,
  root,
  development,
  ...
}:
name: script: given:
let
  # A smaller package set than nixpkgs has these from its own build environment.
  ambient = map (tool: pkgs.${tool}) (
    builtins.filter (tool: pkgs ? ${tool}) [
      "git"
      "gnumake"
      "openssl"
      "procps"
    ]
  );
in
pkgs.runCommand "headrace-check-${name}"
  (
    removeAttrs given [ "servers" ]
    // {
      nativeBuildInputs = [ development ] ++ ambient ++ given.servers or [ ];
      # make takes the programs from here instead of from .venv.
      BIN = "${development}/bin";
      MAKEFLAGS = "BIN=${development}/bin";
      PYTHONDONTWRITEBYTECODE = "1";
    }
  )
  ''
    cp -r ${root} tree
    chmod -R u+w tree
    cd tree
    patchShebangs --build scripts .ci
    export HEADRACE_TREE=$PWD
    export HOME=$TMPDIR
    ${script}
    touch $out
  ''
