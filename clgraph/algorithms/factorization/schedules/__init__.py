"""Strategies of factorisation: ways to prevent simultaneous training steps on one user or item."""
