"""Calls of the OpenCL driver: command queues, errors, timing, and workarounds for particular drivers."""
