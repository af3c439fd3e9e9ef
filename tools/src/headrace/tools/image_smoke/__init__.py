"""Runs a worker's image as a platform would, and harder: read-only, without capabilities, with the loopback alone.

`python -m headrace.tools.image_smoke --archive FILE --worker NAME` loads the archive into a storage of its own, starts
PostgreSQL beside the container in a network of nothing but a loopback interface, has an item processed, asks the
probes, looks around inside with the image's own interpreter, and stops it. It needs Linux, root and podman.
"""
