"""What every algorithm does with its strategies: choose one, run it, and tell how the run went."""
