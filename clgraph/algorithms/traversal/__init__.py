"""Breadth-first searches and shortest paths: what they share, and a module each."""
