# What `nix build` makes: environments, images, and what is made of all images. A worker is in here by its folder alone.
{ lib, pkgs, images, ... }@project:
let
  named = suffix: part: lib.mapAttrs' (folder: image: lib.nameValuePair "${folder}${suffix}" image.${part}) images;

  # An image is an image of Linux; elsewhere the environments alone are built.
  ofLinux =
    named "-image" "archive"
    // named "-image-stream" "stream"
    // {
      # The worker that every installation runs.
      worker-image = images.maintenance.archive;
      worker-image-stream = images.maintenance.stream;
      images = import ./images.nix project;
      terraform-inputs = import ./terraform-inputs.nix project;
    }
    // lib.optionalAttrs (builtins.pathExists ./sbom.nix) { sbom = import ./sbom.nix project; };
in
named "" "environment"
// {
  inherit (project) tools development;
}
// lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux ofLinux
