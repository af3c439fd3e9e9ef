"""The host-free lock: uv's own lock with the package index left out, and the way back.

`nix/uv.lock` names no index: every registry is called `pypi` and every file is given by what follows `/packages/`, with
its hash and size. `hydrate` turns it into `uv.lock` for the index that this developer's uv uses, `strip` goes the other
way. This package runs before any dependency is installed, so it uses the standard library only.
"""
