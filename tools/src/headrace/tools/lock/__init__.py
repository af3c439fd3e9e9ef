"""The host-free lock: uv's own lock with the package index left out, in parts, and the way back.

`nix/uv.lock` names no index: every registry is called `pypi` and every file is given by what follows `/packages/`, with
its hash and size. What uv locks about a worker itself lies in `workers/<name>/lock.toml`, so that two branches that
each add a worker do not meet in one file. `hydrate` joins both into `uv.lock` for the index that this developer's uv
uses, `strip` goes the other way. This package runs before any dependency is installed, so it uses the standard library
only.
"""
