"""Runs of one problem on several devices: teams of devices, divided graphs, and processes for GPUs."""
