# The Python packages of the lock, one derivation for each distribution: { shipped, inTree }.
{
  lib,
  pkgs,
  inputs,
  root,
  python,
  sources,
}:
let
  lock = import ./lock.nix;

  workspace = inputs.uv2nix.lib.workspace.loadWorkspace {
    workspaceRoot = root;
    uvLock = lock.hydrate lock.defaultBase (import ./lock-files.nix root);
  };

  # uv2nix takes a member's whole folder; only what its wheel is made of shall count.
  narrow =
    _final: prev: lib.mapAttrs (name: member: prev.${name}.overrideAttrs member.attributes) sources;

  # The members as uv installs them for a developer: their programs and what they tell of themselves, and a path to the
  # code in the tree, where tests may change it. HEADRACE_TREE names the tree; a build has it where it starts.
  pointToTree =
    _final: prev:
    lib.mapAttrs (
      name: member:
      prev.${name}.overrideAttrs {
        postInstall = ''
          rm -r $out/${python.sitePackages}/headrace
          echo 'import os, sys; sys.path.append(os.environ.get("HEADRACE_TREE", "/build/tree") + "/${member.folder}/src")' \
            > $out/${python.sitePackages}/${name}.pth
        '';
      }
    ) sources;
in
rec {
  shipped = (pkgs.callPackage inputs.pyproject-nix.build.packages { inherit python; }).overrideScope (
    lib.composeManyExtensions [
      inputs.pyproject-build-systems.overlays.wheel
      (workspace.mkPyprojectOverlay { sourcePreference = "wheel"; })
      narrow
    ]
  );

  inTree = shipped.overrideScope pointToTree;
}
