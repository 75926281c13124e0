"""Epochs of training, on one device and on several."""
