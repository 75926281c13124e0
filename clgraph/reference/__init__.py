"""Sequential reference implementations, and checks of results against each problem's definition, without OpenCL."""
