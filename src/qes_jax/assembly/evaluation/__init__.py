"""Evaluation of a policy, from options to the files it writes."""
