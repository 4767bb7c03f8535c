"""A trained policy back from where it lies: a run folder with checkpoints, or a folder of shipped weights."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax

from qes_jax.assembly.clips import find_clips, get_clips, own_clips
from qes_jax.assembly.program import Act
from qes_jax.assembly.settings import RunConfig
from qes_jax.evaluate.weights import check_fit, fill_learner, load_learner, load_policy, save_learner, save_policy
from qes_jax.motion.clip import Clip
from qes_jax.paths import policy_dirs
from qes_jax.ppo.inference import PolicyParams, policy
from qes_jax.ppo.learner import Learner
from qes_jax.runs.checkpoint import CheckpointStore, nest
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder, find, write_json

STAND_INS = ("test_walk", "test_turn", "test_box_18", "test_boxes")  # held out from every training
WEIGHTS, LEARNER = "policy.npz", "learner.npz"


@dataclass(frozen=True)
class Trained:
    """A policy, and what it was trained with."""

    folder: RunFolder
    config: RunConfig
    policy: PolicyParams
    mean_pose: jax.Array  # (J,) [rad] the centre of its PD targets
    act: Act

    def own_clips(self) -> list[Clip]:
        """The clips it was trained on; where they do not ship with its weights, some of our own, which is said."""
        if self.has_clips():
            return get_clips(self.config)
        name, missing, instead = self.folder.name, ", ".join(self.config.clips), ", ".join(STAND_INS)
        print(f"{name}: its own clips ({missing}) do not ship; instead it follows {instead}", file=sys.stderr)
        return find_clips(STAND_INS)

    def has_clips(self) -> bool:
        """Whether all that it was trained on is at hand, or ought to be."""
        return not is_shipped(self.folder) or all(own_clips(w) or Path(w).exists() for w in self.config.clips)


def find_trained(root: Path, name: str) -> RunFolder:
    """A path, "latest", the name of a run below `root` or of shipped weights. FileNotFoundError lists them."""
    try:
        return find(root, name)
    except FileNotFoundError as error:
        shipped = shipped_policies()
        if name in shipped:
            return RunFolder(shipped[name])
        raise FileNotFoundError(f"{error}; shipped weights are: {', '.join(shipped) or 'none'}") from None


def shipped_policies() -> dict[str, Path]:
    """Folders of the policies that ship, by name, in order."""
    found = {p.parent.name: p.parent for folder in policy_dirs() for p in folder.glob("*/config.json")}
    return dict(sorted(found.items()))


def is_shipped(folder: RunFolder) -> bool:
    """Whether the folder holds weights alone, no checkpoints."""
    return (folder.path / WEIGHTS).is_file()


def load_trained(folder: RunFolder) -> Trained:
    """The folder's weights, else its newest good checkpoint. Raises FileNotFoundError where there is neither."""
    config = from_json(RunConfig, folder.read_config(), str(folder.config))
    act = partial(policy, config.ppo)
    if is_shipped(folder):
        weights = load_policy(folder.path / WEIGHTS)
        check_fit(folder.path / WEIGHTS, config.ppo, weights.policy)
        return Trained(folder, config, weights.policy, weights.mean_pose, act)
    tree = nest(newest(folder))
    params, seen = tree["train"]["params"], tree["train"]["normalizer"]
    weights = PolicyParams(params["actor"], params["log_std"], seen["mean"]["policy"], seen["std"]["policy"])
    check_fit(folder.checkpoints, config.ppo, weights)
    return Trained(folder, config, weights, tree["adaptive"]["mean_pose"], act)


def newest(folder: RunFolder) -> dict[str, Any]:
    """Leaves of a run's newest good checkpoint by their path. Raises FileNotFoundError where there is none."""
    found = CheckpointStore(folder.checkpoints).latest()
    if found is None:
        raise FileNotFoundError(f"{folder.checkpoints}: no checkpoint yet")
    return found.state


def load_learned(folder: RunFolder, like: Learner, mean_pose: jax.Array) -> tuple[Learner, jax.Array]:
    """What was learned there, critic, optimiser and statistics too, for a learner of the shapes of `like`.

    Raises ValueError that names what does not fit, FileNotFoundError where weights ship without their critic.
    """
    if is_shipped(folder):
        return load_learner(folder.path / LEARNER, like, mean_pose)
    return fill_learner(newest(folder), like, mean_pose, str(folder.checkpoints))


def ship(trained: Trained, folder: Path) -> None:
    """Write weights and configuration into `folder`, from where `find_trained` and `load_trained` read them.

    Of a run also all that training carries on from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save_policy(folder / WEIGHTS, trained.policy, trained.mean_pose)
    write_json(folder / "config.json", trained.folder.read_config())
    if not is_shipped(trained.folder):
        save_learner(folder / LEARNER, newest(trained.folder))
