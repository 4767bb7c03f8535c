"""Locomotion by prioritised optimisation of features (de Lasa, Mordatch, Hertzmann, SIGGRAPH 2010). No motion capture."""
