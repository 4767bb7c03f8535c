"""How long a live room's ticks take, and how old what a page shows is."""

from qes_jax.commands.bench.live import main

if __name__ == "__main__":
    raise SystemExit(main())
