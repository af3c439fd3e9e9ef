# `nix fmt`: every Nix file of the tree, or those that are given.
{ lib, pkgs, ... }:
pkgs.writeShellScriptBin "headrace-format" ''
  if [ $# = 0 ]; then set -- .; fi
  find "$@" -name '*.nix' -not -path '*/.*' -print0 | xargs -0 -r ${lib.getExe pkgs.nixfmt}
''
