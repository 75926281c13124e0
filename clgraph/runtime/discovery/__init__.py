"""Finding devices, and which of them work."""
