"""Kernel sources, compiled programs, launches of kernels, and compiler caches."""
