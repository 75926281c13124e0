"""Collisions of hash colourings; see :mod:`clgraph.algorithms.hash_collisions.api`."""
