"""Graphs, meshes and ratings on the host, with their statistics and generators.

Only numpy and scipy are needed.
"""
