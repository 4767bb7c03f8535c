"""Trained networks as npz: the leaves of a pytree by their path ("network/params/Dense_0/kernel"), no pickles."""

from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.pose.paper import FEATURES, AutoEncoder, LatentSolver, Paper, Scale, columns_of
from qes_jax.pose.prior import N_START, PriorParams, learned, start_params
from qes_jax.pose.skeleton import SETS

Tree = TypeVar("Tree")


def save_tree(path: Path, tree: PriorParams | Paper) -> None:
    """Write parameters."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    save_npz(path, **{_name(place): np.asarray(leaf) for place, leaf in leaves})


def load_prior(path: Path):
    """The trained prior, ready for `edit.make_solver`.

    Raises FileNotFoundError, or ValueError that names the file and the entry that is not as this code expects it.
    """
    like = jax.eval_shape(start_params, jax.ShapeDtypeStruct((N_START, 1), jnp.float32), jax.random.key(0))
    return partial(learned, _load(path, like))


def load_paper(path: Path) -> Paper:
    """The published networks. Raises as `load_prior` does."""

    def start(key: jax.Array) -> Paper:
        code, one = jnp.zeros((1, 64)), jnp.zeros((1, FEATURES))
        solvers = {name: LatentSolver().init(key, code, one[:, : len(columns_of(name))]) for name in SETS}
        return Paper(Scale(one[0], one[0]), AutoEncoder().init(key, one), solvers)

    return _load(path, jax.eval_shape(start, jax.random.key(0)))


def n_bytes(tree) -> int:
    """Memory of a pytree's arrays."""
    return sum(np.asarray(x).nbytes for x in jax.tree.leaves(tree))


def _name(place: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(place, simple=True, separator="/")


def _load(path: Path, like: Tree) -> Tree:
    """A pytree of the shapes of `like`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: entry(file, name) for name in file.files}
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such weights") from None
    except BROKEN as error:
        raise ValueError(f"{path}: not readable weights: {error}") from None

    def take(place: tuple[Any, ...], leaf: jax.ShapeDtypeStruct) -> jax.Array:
        found = arrays.get(_name(place))
        if found is None or found.shape != leaf.shape or not np.isfinite(found).all():
            what = "missing" if found is None else f"{found.shape} {found.dtype}"
            raise ValueError(f"{path}: entry {_name(place)} is {what}, expected {leaf.shape} finite numbers")
        return jnp.asarray(found)

    return jax.tree_util.tree_map_with_path(take, like)
