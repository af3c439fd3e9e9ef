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
    only "${project.project.name}-source" folder (path: isPart path && !isPage path);

  # A member with a build script of its own, which packs files of the tree around it: the tree as far as scripts read it.
  isScripted = folder: builtins.pathExists (folder + "/hatch_build.py");
  treeAround =
    root: folder:
    let
      parts = [
        "pyproject.toml"
        ".env.example"
        "om"
        "infra"
      ]
      ++ map (part: "${folder}/${part}") [
        "pyproject.toml"
        "hatch_build.py"
        "src"
      ];
      isPart = path: builtins.any (part: path == part || hasPrefix "${part}/" path) parts;
    in
    only "headrace-tree" root (path: path == folder || isPart path);

  members =
    root:
    [
      "om"
      "infra"
      "tools"
    ]
    ++ map (name: "workers/${name}") (builtins.attrNames (builtins.readDir (root + "/workers")));

  isMember = root: folder: builtins.pathExists (root + "/${folder}/pyproject.toml");
in
{
  inherit only;

  # read root -> { <distribution> = { folder, attributes }; } with the folder relative to the root, and the derivation's own
  # attributes for where its source is
  read =
    root:
    lib.listToAttrs (
      map (folder: {
        inherit ((importTOML (root + "/${folder}/pyproject.toml")).project) name;
        value = {
          inherit folder;
          attributes =
            if isScripted (root + "/${folder}") then
              {
                src = treeAround root folder;
                sourceRoot = "headrace-tree/${folder}";
              }
            else
              { src = sourceOf (root + "/${folder}"); };
        };
      }) (builtins.filter (isMember root) (members root))
    );
}
