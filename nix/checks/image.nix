# image folder: what can be said of an image without an engine to run it. tests/images runs it for real.
{
  lib,
  pkgs,
  images,
  programs,
  python,
  ...
}:
folder:
let
  image = images.${folder};
  program = programs.${folder};
in
pkgs.runCommand "headrace-check-${folder}-image"
  {
    nativeBuildInputs = [ pkgs.jq ];
    closure = pkgs.closureInfo { rootPaths = [ image.filesystem ]; };
    # Store paths that tell of a compiler, a shell, a package manager or a tool to fetch with; libraries of a compiler
    # (gcc-lib, libgcc) belong to the runtime.
    forbidden = "-(gcc|clang|llvm|binutils|cc-wrapper|rustc|go|perl|bash|busybox|coreutils|uv|pip|nix|curl|git|gnumake)(-[0-9.]+[^/]*)?(-wrapper[^/]*)?$";
    maxBytes = 400 * 1024 * 1024;
    inherit (program) program;
  }
  ''
    grep -Ee "$forbidden" $closure/store-paths > found || true
    if grep -vEe '-(lib|libgcc)$' found; then echo "the image holds what it must not" >&2; exit 1; fi
    size=$(cat $closure/total-nar-size)
    if [ "$size" -gt $maxBytes ]; then echo "the image has $size bytes, at most $maxBytes are allowed" >&2; exit 1; fi

    # No distribution leads into a tree by a path file.
    xargs -I% find % -name '*.pth' < $closure/store-paths > found
    if grep . found; then echo "a path file is in the image" >&2; exit 1; fi

    mkdir image layers && ${image.stream} 2>/dev/null | tar -x -C image
    config=image/$(jq -r '.[0].Config' image/manifest.json)
    jq -e '.config.User == "65532:65532"' $config > /dev/null
    jq -e '.config.StopSignal == "SIGTERM" and .config.Entrypoint == ["/bin/'$program'"]' $config > /dev/null
    last=image/$(jq -r '.[0].Layers[-1]' image/manifest.json)
    tar -tvf $last | grep -E '^drwxrwxrwt .* \./tmp/?$' > /dev/null

    ${image.environment}/bin/python -I ${./image.py} ${image.filesystem} ${image.environment}/${python.sitePackages}
    ${image.environment}/bin/${program.program} --help > /dev/null
    touch $out
  ''
