"""Several devices that work on one problem."""
