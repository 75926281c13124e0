"""The cost model and the choice of a strategy: pure functions of graph statistics and device rates."""
