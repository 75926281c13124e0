"""The code that breadth-first search and shortest paths share."""
