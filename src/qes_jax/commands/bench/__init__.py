"""Measurements of speed, on whatever machine they run."""
