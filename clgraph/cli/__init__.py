"""The ``clgraph`` command."""
