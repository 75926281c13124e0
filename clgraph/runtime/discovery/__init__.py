"""Discovery of devices, tests whether they work, and the choice among them."""
