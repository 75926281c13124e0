"""Proper colourings at distance 1 and 2; see :mod:`clgraph.algorithms.coloring.color`."""
