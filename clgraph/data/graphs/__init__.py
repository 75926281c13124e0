"""Graphs on the host: their arrays, checks and statistics."""
