"""Reusable operations on device arrays: fill, reduce, scan, compact, sort, and segmented reductions and sorts.

Each operation is a plan: its constructor compiles kernels and allocates memory, and ``run()`` only enqueues the
kernels. A plan can be run repeatedly.
"""
