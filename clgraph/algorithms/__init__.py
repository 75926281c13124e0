"""The algorithms: a package each, of one shape."""
