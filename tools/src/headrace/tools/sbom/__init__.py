"""Bills of materials, CycloneDX 1.6: what an image is made of, from what is in it and from the lock.

What is in it decides: installed distributions by their own metadata, and for an image built by Nix every path of its
closure. The lock adds where each wheel's bytes came from, as hashes, and what needs what. The same input gives the
same document, byte for byte.
"""
