"""Run a sweep on this machine: python experiments/sweep.py SWEEP.yaml [--workers N] [--index I --of N] [-- MORE ...]"""

from qes_jax.commands.sweep import main

if __name__ == "__main__":
    raise SystemExit(main())
