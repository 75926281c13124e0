"""The steps that all algorithms share: choose a strategy, run it, and report how the run went."""
