"""The OpenCL boundary: devices, sessions, programs, launches and their times."""
