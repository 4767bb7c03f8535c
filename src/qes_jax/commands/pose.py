"""Pose edition: python experiments/pose.py data FOLDER ... | train | tune | table [--json FILE]

data   makes a set of poses of recordings, of clips and of the built-in clips, and reports counts
train  trains the prior, and the published networks that it is compared with
tune   measures settings of the solver on the validation clips
table  measures all methods on the same test poses and targets, on one core
"""

import os
import shlex
import sys

import tyro

from qes_jax.assembly.posing.options import Data, Table, Train, Tune
from qes_jax.commands.launch import explained, on_one_thread, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Do one of them. Exit code 2 at bad input."""
    words = sys.argv[1:] if argv is None else argv
    options = tyro.cli(Data | Train | Table | Tune, description=__doc__, args=words)
    on_one_thread()
    if isinstance(options, Table):
        one_core()
    prepare_jax()
    if path := getattr(options, "json", None):
        path.parent.mkdir(parents=True, exist_ok=True)
    do(options, shlex.join(["python", "experiments/pose.py", *words]))
    return 0


def do(options: Data | Train | Table | Tune, command: str) -> None:
    """The work, whose modules import JAX."""
    if isinstance(options, Data):
        from qes_jax.assembly.posing.data import make_data

        make_data(options)
    elif isinstance(options, Train) and options.curve:
        from qes_jax.assembly.posing.curve import learning_curve

        learning_curve(options)
    elif isinstance(options, Train):
        from qes_jax.assembly.posing.training import train

        train(options, command)
    else:
        from qes_jax.assembly.posing.table import table, tune

        table(options) if isinstance(options, Table) else tune(options)


def one_core() -> None:
    """Measure on one core, where the system lets us say so; else XLA's own threads are at least switched off."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
