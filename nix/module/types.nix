# Options that occur more than once.
{ lib }:
let
  inherit (lib) mkOption types;
  scalar = types.oneOf [ types.bool types.int types.float types.str ];
in
{
  # file what -> an option for the path of a file that holds it.
  file =
    what:
    mkOption {
      type = types.externalPath;
      description = "File with ${what}; read by systemd as root and handed to the process alone.";
    };

  # settings whose -> settings by the names that `.env.example` lists, without `HEADRACE_`, in lower case.
  settings =
    whose:
    mkOption {
      type = types.attrsOf (types.oneOf [ scalar (types.listOf scalar) (types.attrsOf scalar) ]);
      default = { };
      example = {
        capacity = 20;
        lease = "90s";
        allowed_networks = [ "10.1.0.0/16" ];
      };
      description = "Settings of ${whose}: what `.env.example` lists, in lower case and without `HEADRACE_`. Never secrets.";
    };

  # secretFiles whose -> tenants' secrets by the name that records refer to.
  secretFiles =
    whose:
    mkOption {
      type = types.attrsOf types.externalPath;
      default = { };
      example = {
        org_73dd468ac3805a2bac5c30457724ddc6_shop = "/run/secrets/shop";
      };
      description = "Tenants' secrets that ${whose} resolves: `file:<name>` in a record is the file given for the name.";
    };
}
