"""Data on the host: graphs, ratings, their statistics and generators; pure numpy and scipy."""
