"""A campaign of bad input: python experiments/bench/trust.py [--minutes 10] [--only PART] [--seed 0] [--page FILE]"""

from qes_jax.commands.bench.trust import main

if __name__ == "__main__":
    raise SystemExit(main())
