"""Families of clips: each is one function from a random generator and a level in [0, 1] to a recipe."""
