"""Reusable device operations: fill, reduce, scan, compact, sort, and segmented reductions and sorts.

Each is a plan: the constructor compiles and allocates, and ``run()`` only enqueues and may be called repeatedly.
"""
