"""The algorithms: one package each, all with the same layout."""
