"""Data, training and measurement of pose edition."""
