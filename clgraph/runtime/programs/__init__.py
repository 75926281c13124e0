"""Kernel sources, compiled programs, launches, and caches of compilers."""
