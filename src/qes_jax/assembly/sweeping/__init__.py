"""Sweeps: many runs of the command line from one file, on this machine, and what came of them."""
