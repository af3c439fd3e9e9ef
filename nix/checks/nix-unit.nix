# The unit tests of the pure functions, while this is evaluated: what fails is named, and nothing can be built then.
{ lib, pkgs, ... }:
let
  failed = import ../tests;
in
if failed == [ ] then
  pkgs.runCommand "headrace-check-nix-unit" { } "touch $out"
else
  throw "Nix unit tests failed:\n${lib.concatStringsSep "\n" failed}"
