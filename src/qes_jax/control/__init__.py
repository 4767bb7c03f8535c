"""Locomotion by prioritised optimisation of features (de Lasa et al., SIGGRAPH 2010). No motion capture."""
