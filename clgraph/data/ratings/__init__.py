"""Matrices of ratings on the host."""
