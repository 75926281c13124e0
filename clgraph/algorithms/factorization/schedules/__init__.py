"""Strategies of factorization: ways to prevent simultaneous steps on one vertex."""
