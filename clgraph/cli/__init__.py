"""The command ``clgraph``, with a module for each sub-command."""
