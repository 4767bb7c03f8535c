"""Solvers of one control tick side by side, and ticks per second of the batched JAX solver."""

from qes_jax.commands.bench.control import main

if __name__ == "__main__":
    raise SystemExit(main())
