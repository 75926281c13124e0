"""An executor of AMD machine code, which runs the package's compiled kernels without an AMD GPU."""
