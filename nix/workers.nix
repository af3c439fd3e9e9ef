# The programs of the tree that are shipped, read from `workers/*/pyproject.toml`: every folder with a console script.
# Those with `[tool.headrace.worker]` are worker roles; the console is none. Adding a worker edits no Nix file.
# Builtins only. `headrace.tools.workers` reads the same for Python and checks each value; here only what Nix uses is.
let
  inherit (builtins)
    attrNames
    attrValues
    concatStringsSep
    filter
    fromTOML
    head
    isInt
    length
    listToAttrs
    map
    pathExists
    readDir
    readFile
    ;

  minPort = 1024;
  maxPort = 65535;
in
rec {
  # parse folder project -> { folder, distribution, program, image, worker }, or null for a folder without a program.
  # `worker` is the declaration, null for a program that is no worker role.
  parse =
    folder: project:
    let
      programs = attrNames (project.project.scripts or { });
      worker = project.tool.headrace.worker or null;
      port = worker.metrics_port or null;
      refuse = sentence: throw "workers/${folder}/pyproject.toml: ${sentence}";
    in
    if worker == null && programs == [ ] then
      null
    else if length programs != 1 then
      refuse "project.scripts has ${toString (length programs)} programs; expected exactly one"
    else if worker != null && !(isInt port && port >= minPort && port <= maxPort) then
      refuse "tool.headrace.worker.metrics_port is ${builtins.toJSON port}; expected a port from ${toString minPort} to ${toString maxPort}"
    else
      {
        inherit folder worker;
        distribution = project.project.name;
        program = head programs;
        image = "headrace-${folder}";
      };

  # read root -> the programs of a working tree by folder.
  read =
    root:
    let
      folders = filter (folder: pathExists (root + "/workers/${folder}/pyproject.toml")) (
        attrNames (readDir (root + "/workers"))
      );
      parsed = map (folder: parse folder (fromTOML (readFile (root + "/workers/${folder}/pyproject.toml")))) folders;
      programs = filter (program: program != null) parsed;
    in
    refuseSharedPorts (
      listToAttrs (
        map (program: {
          name = program.folder;
          value = program;
        }) programs
      )
    );

  # roles programs -> only the worker roles among them.
  roles =
    programs:
    removeAttrs programs (filter (folder: programs.${folder}.worker == null) (attrNames programs));

  # Gives the programs back, or one sentence when two roles claim one port: the local stack runs them side by side.
  refuseSharedPorts =
    programs:
    let
      workers = attrValues (roles programs);
      sharers = port: filter (each: each.worker.metrics_port == port) workers;
      shared = filter (each: length (sharers each.worker.metrics_port) > 1) workers;
      folders = map (each: each.folder) (sharers (head shared).worker.metrics_port);
    in
    if shared == [ ] then
      programs
    else
      throw "workers ${concatStringsSep " and " folders} share the metrics_port ${toString (head shared).worker.metrics_port}; expected a port of its own for each";
}
