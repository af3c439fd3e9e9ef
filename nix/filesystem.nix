# What a process in an image finds outside the store: the program, certificate authorities and time zones of the lock, and
# an account for its number. /tmp is made by the image itself, since the store cannot keep its mode.
{
  pkgs,
  pythonSet,
  environment,
  program,
  user,
}:
let
  packages = pythonSet.python.sitePackages;
in
pkgs.runCommand "${program.image}-filesystem" { } ''
  mkdir -p $out/bin $out/etc/ssl/certs $out/usr/share
  ln -s ${environment}/bin/${program.program} $out/bin/
  ln -s ${pythonSet.certifi}/${packages}/certifi/cacert.pem $out/etc/ssl/certs/ca-certificates.crt
  ln -s ${pythonSet.tzdata}/${packages}/tzdata/zoneinfo $out/usr/share/zoneinfo
  echo 'headrace:x:${user}:${user}:Headrace:/tmp:/none' > $out/etc/passwd
  echo 'headrace:x:${user}:' > $out/etc/group
  echo 'hosts: files dns' > $out/etc/nsswitch.conf
''
