"""The interface to OpenCL drivers: command queues, errors, timing, and workarounds for particular drivers."""
