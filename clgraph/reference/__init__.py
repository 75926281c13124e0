"""Sequential oracles, and checks of each problem's definition; nothing here knows of OpenCL."""
