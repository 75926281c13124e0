"""The ``clgraph`` command: one module per sub-command."""
