# read root -> the joined lock of a working tree; one sentence when a worker is not locked, or a locked one is gone.
root:
let
  inherit (builtins)
    attrNames
    elem
    filter
    head
    listToAttrs
    map
    pathExists
    readDir
    readFile
    ;

  has = file: filter (folder: pathExists (root + "/workers/${folder}/${file}")) below;
  below = attrNames (readDir (root + "/workers"));
  workers = has "pyproject.toml";
  locked = has "lock.toml";
  missing = filter (folder: !elem folder locked) workers;
  stray = filter (folder: !elem folder workers) locked;

  file = name: {
    inherit name;
    text = readFile (root + "/${name}");
  };
in
if missing != [ ] then
  throw "The worker workers/${head missing} is not locked: its lock.toml is missing; run `make lock` and `git add` it."
else if stray != [ ] then
  throw "workers/${head stray}/lock.toml is about a worker that is gone; run `make lock`, which removes it."
else
  (import ./lock.nix).join {
    shared = file "nix/uv.lock";
    parts = listToAttrs (
      map (folder: {
        name = folder;
        value = file "workers/${folder}/lock.toml";
      }) locked
    );
  }
