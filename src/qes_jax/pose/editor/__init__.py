"""What a pose editor knows and does, without a window: state, history, symmetry, named poses, key poses in time."""
