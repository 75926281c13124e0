"""Graphs, meshes and ratings on the host, with their statistics and generators. Needs only numpy and scipy."""
