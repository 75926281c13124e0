"""Code that all algorithms share: it chooses a strategy, runs it, and reports on the run."""
