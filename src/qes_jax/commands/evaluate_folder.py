"""Evaluate a policy on every recording of a folder, and say by group where it fails.

python experiments/evaluate_folder.py rooms FOLDER --groups "_(?P<content>[^_]+)_(?P<style>[^_]+)_"
python experiments/evaluate_folder.py latest FOLDER --limit 100 --seconds 10
"""

import os

import tyro

from qes_jax.assembly.evaluation.options import FolderOptions
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Evaluate one folder. Exit code 2 where something that was asked for is not there."""
    options = tyro.cli(FolderOptions, args=argv)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # importing solves many small systems
    prepare_jax()
    from qes_jax.assembly.evaluation.folder import evaluate_folder  # only now: it imports JAX

    evaluate_folder(options)
    return 0
