"""Balance, jump or walk by prioritised optimisation, no motion capture."""

from qes_jax.commands.control import main

if __name__ == "__main__":
    raise SystemExit(main())
