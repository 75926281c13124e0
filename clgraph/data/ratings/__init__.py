"""Sparse matrices of ratings on the host, with their statistics and generators."""
