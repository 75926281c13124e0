"""Discovery of OpenCL devices, tests of whether a device works, and the choice of a device."""
