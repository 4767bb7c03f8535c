"""A trained policy in one small file: weights, the statistics of its observation, the centre of its PD targets."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.inference import PolicyParams
from qes_jax.ppo.learner import Learner
from qes_jax.ppo.networks import init_params
from qes_jax.runs.checkpoint import fill, nest

# Of a checkpoint, by the paths of its leaves.
LEARNED = (*(f"train/{field}" for field in Learner._fields), "adaptive/mean_pose")


class Weights(NamedTuple):
    """What acting needs besides the configuration."""

    policy: PolicyParams
    mean_pose: jax.Array  # (J,) [rad] the centre of PD targets, of the motions it was trained on


def save_policy(path: Path, policy: PolicyParams, mean_pose: jax.Array) -> None:
    """Write an npz whose entries are the leaves by their path ("policy/log_std"). Written aside, then renamed."""
    tree = Weights(policy, mean_pose)._asdict() | {"policy": policy._asdict()}
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    arrays = {jax.tree_util.keystr(p, simple=True, separator="/"): np.asarray(x) for p, x in leaves}
    save_npz(path, **arrays)


def load_policy(path: Path) -> Weights:
    """Read it back. Raises ValueError that names file and entry, FileNotFoundError where there is no file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            leaves = {name: entry(file, name) for name in file.files}
        _check_finite(leaves)
        tree = nest(leaves)
        policy = PolicyParams(**tree["policy"])
        return Weights(policy, tree["mean_pose"])
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path}: not a policy: {error}") from error


def save_learner(path: Path, leaves: Mapping[str, np.ndarray]) -> None:
    """Write what training carries on from, of a checkpoint's leaves by their path. Written aside, then renamed."""
    save_npz(path, **{name: np.asarray(x) for name, x in leaves.items() if name.startswith(LEARNED)})


def load_learner(path: Path, like: Learner, mean_pose: jax.Array) -> tuple[Learner, jax.Array]:
    """Learner and mean pose that `save_learner` wrote, for a learner of the shapes of `like` and `mean_pose`.

    Raises ValueError that names file and entry, FileNotFoundError where there is no file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            leaves = {name: entry(file, name) for name in file.files}
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path}: not what a learner has learned: {error}") from error
    return fill_learner(leaves, like, mean_pose, str(path))


def fill_learner(
    leaves: Mapping[str, np.ndarray], like: Learner, mean_pose: jax.Array, where: str
) -> tuple[Learner, jax.Array]:
    """Learner and mean pose from a checkpoint's leaves. Raises ValueError that names `where` and the entry."""
    own = {name: x for name, x in leaves.items() if name.startswith(LEARNED)}
    try:
        _check_finite(own)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    tree = fill({"train": like, "adaptive": {"mean_pose": mean_pose}}, own, where)
    return tree["train"], tree["adaptive"]["mean_pose"]


def _check_finite(leaves: Mapping[str, np.ndarray]) -> None:
    bad = [name for name, x in leaves.items() if x.dtype.kind == "f" and not np.isfinite(x).all()]
    if bad:
        raise ValueError(f"{bad[0]} holds numbers that are not finite")


def check_fit(path: Path, cfg: PPOConfig, policy: PolicyParams) -> None:
    """Raises ValueError that names file and entry where the weights are not those of the configured network."""
    if not all(np.ndim(x) == 1 and np.size(x) for x in (policy.mean, policy.log_std)):
        raise ValueError(f"{path}: mean or log_std is no row of numbers")
    n_policy, n_act = np.shape(policy.mean)[-1], np.shape(policy.log_std)[-1]
    params = jax.eval_shape(lambda key: init_params(cfg, n_policy, n_policy, n_act, key), jax.random.key(0))
    expected = {"actor": params["actor"], "log_std": params["log_std"], "mean": policy.mean, "std": policy.mean}
    wanted, found = _shapes(expected), _shapes(policy._asdict())
    wrong = [name for name in sorted(wanted | found) if wanted.get(name) != found.get(name)]
    if wrong:
        name = wrong[0]
        raise ValueError(f"{path}: {name} has shape {found.get(name)}, the configured network {wanted.get(name)}")


def _shapes(tree: dict) -> dict[str, tuple[int, ...]]:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(p, simple=True, separator="/"): np.shape(x) for p, x in leaves}
