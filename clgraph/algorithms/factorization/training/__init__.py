"""Epochs of factorisation training, on one device and on several devices."""
