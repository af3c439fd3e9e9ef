# Every image in one OCI layout, with the digest that a registry will know it by: layers are compressed here, once, and
# `skopeo copy --preserve-digests oci:result/oci:<image> docker://<registry>/<image>` sends them as they are.
#
#   oci/            the layout; layers that images share are in it once
#   digests.json    { "<folder>": "sha256:<manifest>" }, which the Terraform inputs take
#   manifest.json   { "<folder>": { image, digest, config, layers, size_bytes } }
{ lib, pkgs, images, programs, ... }:
pkgs.runCommand "headrace-images"
  {
    nativeBuildInputs = [
      pkgs.skopeo
      pkgs.jq
    ];
    describe = ''
      { ($folder): {
          image: $image,
          digest: $digest,
          config: .config.digest,
          layers: (.layers | length),
          size_bytes: ([.layers[].size] | add),
      } }
    '';
  }
  ''
    export HOME=$TMPDIR
    mkdir -p $out parts
    add() { # FOLDER IMAGE STREAM
      "$3" > archive.tar
      skopeo --insecure-policy --tmpdir "$TMPDIR" copy --quiet docker-archive:archive.tar "oci:$out/oci:$2"
      digest=$(jq -r --arg name "$2" '
        .manifests[] | select(.annotations["org.opencontainers.image.ref.name"] == $name).digest
      ' $out/oci/index.json)
      jq --arg folder "$1" --arg image "$2" --arg digest "$digest" "$describe" \
        "$out/oci/blobs/sha256/''${digest#sha256:}" > "parts/$1.json"
    }
    ${lib.concatStrings (
      lib.mapAttrsToList (folder: image: ''
        add ${folder} ${programs.${folder}.image} ${image.stream}
      '') images
    )}
    jq --slurp --sort-keys add parts/*.json > $out/manifest.json
    jq --sort-keys 'map_values(.digest)' $out/manifest.json > $out/digests.json
  ''
