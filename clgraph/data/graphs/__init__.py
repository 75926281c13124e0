"""Graphs on the host: CSR arrays, checks and statistics."""
