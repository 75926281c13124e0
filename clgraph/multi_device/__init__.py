"""Runs of one problem on several devices: teams of devices, divided graphs, and a process per GPU."""
