"""The paper's tables: python experiments/tables.py 2|3|4 [--seeds 5] [--samples N] [--index I --of N] [--smoke]"""

from qes_jax.commands.tables import main

if __name__ == "__main__":
    raise SystemExit(main())
