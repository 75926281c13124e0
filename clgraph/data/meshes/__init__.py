"""Triangulations of the plane on the host."""
