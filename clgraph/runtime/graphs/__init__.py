"""Graphs in device memory: their upload, checks, statistics and replicas."""
