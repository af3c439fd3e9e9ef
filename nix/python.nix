# The interpreter that everything here is built and tested with, and that ships: nixpkgs' own CPython without the shell
# that its subprocess module points to, so that no image holds one. Nothing is compiled anew: the copy differs from the
# original in its own path and in that reference, and both keep their lengths.
{ lib, pkgs }:
let
  original = pkgs.python313;

  copy = pkgs.runCommand original.name {
    inherit original;
    LC_ALL = "C";
    shellPath = "${builtins.storeDir}/[0-9a-z]\\{32\\}-bash";
    nowhere = "${builtins.storeDir}/${lib.concatStrings (lib.replicate 32 "e")}-bash";
  } ''
    [ ''${#out} = ''${#original} ]
    cp -r $original $out
    chmod -R u+w $out
    { grep -rlaF $original $out || true; } | xargs -r sed -i "s#$original#$out#g"
    find $out -type l -lname "$original/*" | while read -r link; do
      target=$(readlink "$link")
      ln -sfn "$out''${target#"$original"}" "$link"
    done
    { grep -rla "$shellPath" $out || true; } | xargs -r sed -i "s#$shellPath#$nowhere#g"
  '';

  python = original // {
    inherit (copy) outPath drvPath;
    out = python;
    interpreter = "${copy}/bin/${original.executable}";
    pythonOnBuildForHost = python;
  };
in
python
