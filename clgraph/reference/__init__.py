"""Sequential oracles and checks of results against each problem's definition, all without OpenCL."""
