"""Evaluate a policy: python experiments/evaluate.py RUN [--starts all] [--clips walk] [--recording FILE] [--video]"""

from qes_jax.commands.evaluate import main

if __name__ == "__main__":
    raise SystemExit(main())
