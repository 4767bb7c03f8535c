"""Foreign recordings made into clips."""
