"""Graphs on a device: uploading, checks, statistics, replicas."""
