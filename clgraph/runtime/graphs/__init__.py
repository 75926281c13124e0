"""Graphs on a device."""
