# The workspace as Nix sees it on one system: what ships, and the Python packages to build it from, one derivation for
# each distribution of the lock.
{
  lib,
  pkgs,
  inputs,
  self,
  root,
}:
let
  workers = import ./workers.nix;
  python = import ./python.nix { inherit lib pkgs; };
  sources = (import ./sources.nix { inherit lib; }).read root;

  sets = import ./python-set.nix {
    inherit
      lib
      pkgs
      inputs
      root
      python
      sources
      ;
  };
  pythonSet = sets.shipped;

  members = lib.mapAttrs (_: _: [ ]) sources;
in
rec {
  inherit
    lib
    pkgs
    python
    pythonSet
    root
    self
    ;

  # What ships, by folder below workers/, and the worker roles among it.
  programs = workers.read root;
  roles = workers.roles programs;

  # A program's environment: its distribution, the optional extras of infra and what those need; nothing editable.
  environmentOf =
    program:
    pythonSet.mkVirtualEnv program.image {
      ${program.distribution} = [ ];
      headrace-infra = [
        "errors"
        "tracing"
      ];
    };

  # Every member, from the tree, and every tool of the dependency group `dev`: what the checks run in.
  development = sets.inTree.mkVirtualEnv "headrace-development" (
    members
    // {
      headrace-workspace = [ "dev" ];
      headrace-infra = [
        "errors"
        "tracing"
      ];
    }
  );

  # Every member, the tools among them: for the generator and the Terraform inputs.
  tools = pythonSet.mkVirtualEnv "headrace-tools" members;

  # What an image says about where it comes from. A tree with uncommitted changes has the date of its commit.
  origin = {
    url = (lib.importTOML (root + "/pyproject.toml")).project.urls.source;
    revision = self.rev or self.dirtyRev or "uncommitted";
    date = self.lastModifiedDate;
  };

  # Each program's image: { archive, stream, environment, filesystem }.
  images = lib.mapAttrs (
    _:
    import ./image.nix {
      inherit
        lib
        pkgs
        pythonSet
        environmentOf
        origin
        ;
    }
  ) programs;
}
