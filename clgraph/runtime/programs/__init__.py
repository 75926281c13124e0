"""Kernel sources, compiled programs, launches, and compiler caches."""
