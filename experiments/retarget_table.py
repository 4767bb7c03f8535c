"""Retarget every recording of a folder and say how good that is: python experiments/retarget_table.py ../shared/data"""

from qes_jax.commands.retarget_table import main

if __name__ == "__main__":
    raise SystemExit(main())
