# The bill of materials of every image, `<image>.cdx.json` each: from its closure, and from the lock for the hashes of
# wheels and for what needs what.
{ lib, pkgs, root, tools, origin, programs, images, ... }:
let
  inherit (import ./sources.nix { inherit lib; }) only;

  locks = only "headrace-locks" root (
    path:
    builtins.any (pattern: builtins.match pattern path != null) [
      "nix(/uv.lock)?"
      "workers(/[^/]+(/lock.toml)?)?"
    ]
  );

  write =
    folder: image:
    let
      closure = pkgs.closureInfo {
        rootPaths = [
          image.environment
          image.filesystem
        ];
      };
    in
    ''
      bill --closure ${closure}/registration --name ${programs.${folder}.image} \
        --output $out/${programs.${folder}.image}.cdx.json
    '';
in
pkgs.runCommand "headrace-bills" { } ''
  mkdir $out
  arguments=(--version ${lib.escapeShellArg origin.revision} --source ${lib.escapeShellArg origin.url})
  for lock in ${locks}/nix/uv.lock ${locks}/workers/*/lock.toml; do arguments+=(--lock $lock); done
  bill() { ${tools}/bin/python -m headrace.tools.sbom "''${arguments[@]}" "$@"; }
  ${lib.concatStrings (lib.mapAttrsToList write images)}
''
