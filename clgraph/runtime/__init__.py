"""The boundary to OpenCL: devices, sessions, programs, launches and their times."""
