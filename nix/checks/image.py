"""Run by an image's own interpreter: `image.py FILESYSTEM SITE_PACKAGES`. Fails with the first thing that does not work."""

import datetime
import importlib
import importlib.metadata
import os
import ssl
import sys
import zoneinfo
from pathlib import Path

filesystem, site_packages = map(Path, sys.argv[1:])

context = ssl.create_default_context(cafile=str(filesystem / "etc/ssl/certs/ca-certificates.crt"))
if context.cert_store_stats()["x509_ca"] < 50:
    sys.exit(f"the bundle holds {context.cert_store_stats()['x509_ca']} authorities, expected at least 50")

zoneinfo.reset_tzpath([str(filesystem / "usr/share/zoneinfo")])
zone = zoneinfo.ZoneInfo.no_cache("Europe/Berlin")
offsets = {datetime.datetime(2026, month, 15, tzinfo=zone).utcoffset() for month in (1, 7)}
if len(offsets) != 2:
    sys.exit("Europe/Berlin has the same offset in winter and in summer")

for distribution in importlib.metadata.distributions(path=[str(site_packages)]):
    for top in (distribution.read_text("top_level.txt") or "").split():
        if not top.startswith("_"):
            importlib.import_module(top)

stale = [file for file in site_packages.rglob("headrace/**/*.py") if not Path(importlib.util.cache_from_source(str(file))).exists()]
if stale:
    sys.exit(f"{stale[0]} was not compiled")
os.write(1, "Größe, 大きさ\n".encode())
