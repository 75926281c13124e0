"""``clgraph report --html``: a page on a device, its strategies and the studies."""
