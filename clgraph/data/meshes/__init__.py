"""Planar graphs and triangle meshes on the host: checks, triangulation and measures of quality."""
