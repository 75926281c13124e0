"""Predict and choose: pure functions of graph statistics and device rates."""
