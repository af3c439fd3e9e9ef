# `nix develop`: everything that `make` would otherwise look for on the machine. The linters come with uv, by `make setup`.
{ lib, pkgs, ... }:
let
  # A smaller package set than nixpkgs may lack what only people at a terminal use.
  available = names: map (name: pkgs.${name}) (builtins.filter (name: pkgs ? ${name}) names);
in
{
  default = (pkgs.mkShellNoCC or pkgs.stdenvNoCC.mkDerivation) {
    name = "headrace";
    packages = [ ];
    nativeBuildInputs = [
      pkgs.python313
      pkgs.uv
      pkgs.postgresql
      pkgs.redis
      pkgs.jq
      pkgs.skopeo
      pkgs.nixfmt
    ]
    ++ available [
      "git"
      "gnumake"
      "pgbouncer"
      "opentofu"
      "statix"
      "deadnix"
    ];
    # uv must not bring another interpreter than the one that everything is tested with.
    UV_PYTHON_DOWNLOADS = "never";
    HEADRACE_PYTHON = "${pkgs.python313}/bin/python3";
  };
}
