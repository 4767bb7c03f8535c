"""Trained networks as npz: the leaves of a pytree by their path ("network/params/Dense_0/kernel"), no pickles."""

import zipfile
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.files import save_npz
from qes_jax.pose.paper import Paper, Scale
from qes_jax.pose.prior import PriorParams, learned


def save_tree(path: Path, tree: PriorParams | Paper) -> None:
    """Write parameters."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    save_npz(path, **{jax.tree_util.keystr(p, simple=True, separator="/"): np.asarray(x) for p, x in leaves})


def load_prior(path: Path):
    """The trained prior, ready for `edit.make_solver`. Raises ValueError naming the file, or FileNotFoundError."""
    tree = _load(path)
    try:
        return partial(learned, PriorParams(**tree))
    except TypeError as error:
        raise ValueError(f"{path}: not a prior: {error}") from None


def load_paper(path: Path) -> Paper:
    """The published networks. Raises ValueError naming the file, or FileNotFoundError."""
    tree = _load(path)
    try:
        return Paper(Scale(**tree["scale"]), tree["coder"], tree["solvers"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: not the published networks: {error}") from None


def n_bytes(tree) -> int:
    """Memory of a pytree's arrays."""
    return sum(np.asarray(x).nbytes for x in jax.tree.leaves(tree))


def _load(path: Path) -> dict:
    try:
        with np.load(path, allow_pickle=False) as file:
            tree: dict = {}
            for name in file.files:
                *folders, leaf = name.split("/")
                place = tree
                for folder in folders:
                    place = place.setdefault(folder, {})
                place[leaf] = jnp.asarray(file[name])
            return tree
    except FileNotFoundError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not readable weights: {error}") from None
