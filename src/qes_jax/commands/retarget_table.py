"""Retarget every recording of a folder and say how good that is: python experiments/retarget_table.py ../shared/data

All files whose format is known are taken, boxes (.obj) with the recordings beside them; one that cannot be read is left
out, which is said. The table in the docs:
--out docs/retargeting.md
"""

import tyro

from qes_jax.assembly.importing.options import TableOptions
from qes_jax.commands.launch import explained, on_one_thread, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Retarget all recordings of a folder. Exit code 2 at bad input."""
    options = tyro.cli(TableOptions, description=__doc__, args=argv)
    on_one_thread()
    prepare_jax()
    from qes_jax.assembly.importing.table import retarget_all  # only now: it imports JAX

    retarget_all(options)
    return 0
