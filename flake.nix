{
  description = "Headrace: multi-tenant background work on PostgreSQL";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    pyproject-nix = {
      url = "github:pyproject-nix/pyproject.nix";
      inputs.nixpkgs.follows = "nixpkgs";
    };
    uv2nix = {
      url = "github:pyproject-nix/uv2nix";
      inputs.nixpkgs.follows = "nixpkgs";
      inputs.pyproject-nix.follows = "pyproject-nix";
    };
    pyproject-build-systems = {
      url = "github:pyproject-nix/build-system-pkgs";
      inputs.nixpkgs.follows = "nixpkgs";
      inputs.pyproject-nix.follows = "pyproject-nix";
      inputs.uv2nix.follows = "uv2nix";
    };
  };

  outputs =
    { self, nixpkgs, ... }@inputs:
    let
      inherit (nixpkgs) lib;
      systems = builtins.filter (system: nixpkgs.legacyPackages ? ${system}) [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      # What a file under nix/ makes of the project, for each system.
      each = file: lib.genAttrs systems (system: import file (projectOn system));
      projectOn =
        system:
        import ./nix/project.nix {
          inherit lib inputs self;
          pkgs = nixpkgs.legacyPackages.${system};
          root = ./.;
        };
    in
    {
      packages = each ./nix/packages.nix;
      apps = each ./nix/apps.nix;
      checks = each ./nix/checks;
      devShells = each ./nix/shell.nix;
      formatter = each ./nix/formatter.nix;
      # A machine's programs are those of its own system.
      nixosModules.default = import ./nix/module.nix (system: self.packages.${system});
    };
}
