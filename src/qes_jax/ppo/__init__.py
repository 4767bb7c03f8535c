"""Proximal policy optimisation over pure `reset` and `step` functions."""
