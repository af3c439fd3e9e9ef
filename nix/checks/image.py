"""Run by an image's own interpreter: `image.py FILESYSTEM SITE_PACKAGES`; ends at the first thing that fails."""

import datetime as dt
import importlib
import importlib.metadata
import os
import ssl
import sys
import zoneinfo
from importlib.util import cache_from_source
from pathlib import Path

MIN_AUTHORITIES = 50

filesystem, site_packages = map(Path, sys.argv[1:])

context = ssl.create_default_context(cafile=str(filesystem / "etc/ssl/certs/ca-certificates.crt"))
found = context.cert_store_stats()["x509_ca"]
if found < MIN_AUTHORITIES:
    sys.exit(f"the bundle holds {found} authorities, expected at least {MIN_AUTHORITIES}")

zoneinfo.reset_tzpath([str(filesystem / "usr/share/zoneinfo")])
zone = zoneinfo.ZoneInfo.no_cache("Europe/Berlin")
winter, summer = (dt.datetime(2026, month, 15, tzinfo=zone).utcoffset() for month in (1, 7))
if winter == summer:
    sys.exit("Europe/Berlin has the same offset in winter and in summer")

for distribution in importlib.metadata.distributions(path=[str(site_packages)]):
    for top in (distribution.read_text("top_level.txt") or "").split():
        if not top.startswith("_"):
            importlib.import_module(top)

# An environment is made of links, which pathlib does not follow.
folders = os.walk(site_packages / "headrace", followlinks=True)
sources = [Path(folder, name) for folder, _, names in folders for name in names if name.endswith(".py")]
for file in sources:
    if not Path(cache_from_source(str(file))).exists():
        sys.exit(f"{file} was not compiled")
if not sources:
    sys.exit(f"{site_packages} has no module of ours")

os.write(sys.stdout.fileno(), "Größe, 大きさ\n".encode())
