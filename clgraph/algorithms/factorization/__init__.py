"""Matrix factorisation by stochastic gradient descent, under every way to keep two steps off one vertex."""
