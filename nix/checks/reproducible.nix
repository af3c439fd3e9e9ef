# Whether an image depends on more than its inputs: each is streamed again under another locale, time zone, umask and
# number of cores, and must come out as it did in `.#images`. Building everything again is `make nix-check`'s part.
{
  lib,
  pkgs,
  images,
  programs,
  ...
}@project:
let
  made = import ../images.nix project;
in
pkgs.runCommand "headrace-check-reproducible" { nativeBuildInputs = [ pkgs.jq ]; } ''
  export LC_ALL=C TZ=Pacific/Kiritimati NIX_BUILD_CORES=1
  umask 077
  again() { # FOLDER STREAM
    "$2" 2>/dev/null | tar -xO --wildcards '*.json' --exclude manifest.json | sha256sum | cut -d ' ' -f 1 > digest
    ${lib.getExe pkgs.jq} -e --rawfile again digest '.["'$1'"]' ${made}/manifest.json > /dev/null
  }
  ${lib.concatStrings (
    lib.mapAttrsToList (folder: image: ''
      again ${folder} ${image.stream}
    '') images
  )}
  touch $out
''
