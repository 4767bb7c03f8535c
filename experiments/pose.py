"""Pose edition: python experiments/pose.py data FOLDER ... | train | tune | table [--json FILE]"""

from qes_jax.commands.pose import main

if __name__ == "__main__":
    raise SystemExit(main())
