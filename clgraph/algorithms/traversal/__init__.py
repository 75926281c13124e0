"""Code that breadth-first search and shortest-path search share."""
