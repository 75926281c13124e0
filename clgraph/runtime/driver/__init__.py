"""Calls of the OpenCL driver: its queue, its errors and what is odd about it."""
