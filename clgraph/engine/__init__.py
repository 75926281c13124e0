"""The code that all algorithms share: choose a strategy, run it, and report on the run."""
