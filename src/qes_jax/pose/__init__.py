"""Posing the character: a standard skeleton, classical and learned solvers that bring joints to targets."""
