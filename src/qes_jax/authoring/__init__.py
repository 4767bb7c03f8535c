"""Makes the built-in clips by code alone: time lines of targets, a gait from footsteps, inverse kinematics."""
