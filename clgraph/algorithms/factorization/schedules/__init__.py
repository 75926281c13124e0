"""Strategies of factorization: ways to keep two steps off one vertex."""
