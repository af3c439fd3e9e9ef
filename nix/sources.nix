# The files of each member that its distribution is built from, so that touching anything else rebuilds nothing.
# lib.fileset would read better, but needs a newer evaluator than some machines that build this have.
{ lib }:
let
  inherit (lib) hasPrefix importTOML removePrefix;

  # What hatch takes into the wheel besides the project file: the packages, and folders that are included by force.
  wheelParts =
    project:
    let
      wheel = project.tool.hatch.build.targets.wheel or { };
    in
    map (package: builtins.head (lib.splitString "/" package)) (wheel.packages or [ ])
    ++ builtins.attrNames (wheel.force-include or { });

  # only name folder keep -> the folder's files and folders for which `keep` says yes to the path below the folder.
  only =
    name: folder: keep:
    builtins.path {
      inherit name;
      path = folder;
      filter = path: _: keep (removePrefix "${toString folder}/" path);
    };

  sourceOf =
    folder:
    let
      project = importTOML (folder + "/pyproject.toml");
      parts = [ "pyproject.toml" ] ++ wheelParts project;
      isPart = path: builtins.any (part: path == part || hasPrefix "${part}/" path) parts;
      # Pages for readers lie beside the code that they are about; no program reads them.
      isPage = path: baseNameOf path == "README.md";
    in
    {
      inherit (project.project) name;
      value = only "${project.project.name}-source" folder (path: isPart path && !isPage path);
    };

  members =
    root:
    map (name: root + "/${name}") (
      [
        "om"
        "infra"
        "tools"
      ]
      ++ map (name: "workers/${name}") (builtins.attrNames (builtins.readDir (root + "/workers")))
    );
in
{
  inherit only;

  # read root -> { <distribution> = <source>; }
  read =
    root:
    lib.listToAttrs (
      map sourceOf (
        builtins.filter (folder: builtins.pathExists (folder + "/pyproject.toml")) (members root)
      )
    );
}
