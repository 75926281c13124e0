"""Kernel sources, compiled programs, and their caches."""
