# The host-free lock as the attribute set that uv2nix takes for a parsed uv.lock. Builtins only, so that it is tested
# without nixpkgs. What `tools/lock` does for uv, this does for Nix. `lock-files.nix` reads the files.
let
  inherit (builtins)
    attrNames
    filter
    fromTOML
    head
    isString
    length
    map
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
}
