# The host-free lock as the attribute set that uv2nix takes for a parsed uv.lock. Builtins only, so that it is tested
# without nixpkgs. What `tools/lock` does for uv, this does for Nix: both read the same files, neither writes any.
let
  inherit (builtins)
    attrNames
    concatMap
    filter
    fromTOML
    head
    isString
    length
    map
    pathExists
    readDir
    readFile
    replaceStrings
    sort
    split
    ;

  registry = "pypi";

  lines = text: filter isString (split "\n" text);

  namesAddress = text: replaceStrings [ "://" ] [ "" ] text != text;

  # The text of a file of the lock, parsed; refused when it names a host, since the repository must name none.
  parse =
    { name, text }:
    if namesAddress text then
      throw "${name} names an address in `${head (filter namesAddress (lines text))}`; run `make lock`."
    else
      fromTOML text;

  # The one package of a worker's part.
  only =
    folder: part:
    let
      packages = part.package or [ ];
      about = package: package.source.editable or package.source.virtual or "";
    in
    if length packages == 1 && about (head packages) == "workers/${folder}" then
      head packages
    else
      throw "workers/${folder}/lock.toml is not about workers/${folder} alone; run `make lock`.";
in
rec {
  # Where nixpkgs' fetchurl looks for files of the index; what follows `/packages/` on any index is appended.
  defaultBase = "mirror://pypi/../";

  # join { shared = { name, text }; parts.<folder> = { name, text }; } -> the lock, still without a base.
  join =
    { shared, parts }:
    let
      lock = parse shared;
      own = map (folder: only folder (parse parts.${folder})) (attrNames parts);
      names = map (package: package.name) own;
    in
    lock
    // {
      manifest = (lock.manifest or { }) // {
        members = sort (a: b: a < b) ((lock.manifest.members or [ ]) ++ names);
      };
      package = sort (a: b: a.name < b.name) (lock.package ++ own);
    };

  # hydrate base lock -> the lock with a place for every file. Outputs depend on a file's name and hash, not on the base.
  hydrate =
    base: lock:
    let
      place = file: file // (if file ? url then { url = base + file.url; } else { });
      package =
        given:
        if given.source.registry or registry != registry then
          throw "nix/uv.lock takes ${given.name} from `${given.source.registry}`, expected `${registry}`; run `make lock`."
        else
          # uv2nix refuses the key, which only says what uv installs by default.
          removeAttrs given [ "default-groups" ]
          // (if given ? sdist then { sdist = place given.sdist; } else { })
          // (if given ? wheels then { wheels = map place given.wheels; } else { });
    in
    lock // { package = map package lock.package; };

  # read root -> the joined lock of a working tree; one sentence when a worker is not locked, or a locked one is gone.
  read =
    root:
    let
      below = attrNames (readDir (root + "/workers"));
      has = file: filter (folder: pathExists (root + "/workers/${folder}/${file}")) below;
      missing = filter (folder: !builtins.elem folder (has "lock.toml")) (has "pyproject.toml");
      stray = filter (folder: !builtins.elem folder (has "pyproject.toml")) (has "lock.toml");
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
      join {
        shared = file "nix/uv.lock";
        parts = builtins.listToAttrs (
          concatMap (folder: [
            {
              name = folder;
              value = file "workers/${folder}/lock.toml";
            }
          ]) (has "lock.toml")
        );
      };
}
