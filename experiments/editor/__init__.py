"""The pose editor's window in the browser: what experiments/edit_pose.py opens."""
