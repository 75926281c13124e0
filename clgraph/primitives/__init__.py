"""Reusable device operations: fill, reduce, scan, compact, sort, segmented.

Each is a plan: the constructor compiles and allocates, ``run()`` only enqueues and may be called again.
"""
