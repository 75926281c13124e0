"""Graphs on the host: arrays, checks, statistics."""
