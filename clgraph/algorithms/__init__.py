"""The graph algorithms, one package each.

All packages have the same layout.
"""
