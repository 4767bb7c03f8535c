"""A run that cannot go on: what went wrong, and everything needed to see it again."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from qes_jax.runs.checkpoint import CheckpointStore, named_leaves
from qes_jax.runs.folder import RunFolder, write_json

log = logging.getLogger(__name__)


class TrainingFailed(RuntimeError):
    """An iteration raised, or counted numbers that are not finite. The message names iteration, cause and dump."""


def bad_metrics(metrics: Mapping[str, float], fatal: tuple[str, ...]) -> dict[str, float]:
    """Those metrics that begin with one of `fatal` and are not zero (NaN included)."""
    return {k: v for k, v in metrics.items() if k.startswith(fatal) and v != 0}


def dump(
    run: RunFolder,
    number: int,
    train_state: Any,
    env_params: Any,
    metrics: Mapping[str, float],
    traces: Any,
    fatal: tuple[str, ...],
    error: Exception | None,
    note: Callable[..., str] | None,
) -> str:
    """Writes `failure-NUMBER/` into the run folder and returns the words of the error.

    The folder holds failure.json (iteration, cause, metrics, the checkpoint to run again from), traces.npz, and
    state.npz with the train state that the iteration left. The one before it is used up by then; but since every
    iteration follows from the checkpoint before it, running on from there shows the failure again.
    """
    folder = run.path / f"failure-{number:08d}"
    folder.mkdir(exist_ok=True)
    cause = str(error) if error else ", ".join(f"{k} = {v:g}" for k, v in bad_metrics(metrics, fatal).items())
    _arrays(folder / "traces.npz", traces)
    _arrays(folder / "state.npz", train_state)
    if note:
        cause += "; " + _noted(note, folder, train_state, env_params, metrics, traces)
    numbers = CheckpointStore(run.checkpoints).numbers()
    replay = numbers[-1] if numbers else None
    finite = {k: v if np.isfinite(v) else str(v) for k, v in metrics.items()}
    write_json(folder / "failure.json", {"iteration": number, "cause": cause, "replay_from": replay, "metrics": finite})
    again = f"checkpoint {replay}" if replay is not None else "the start (no checkpoint yet)"
    words = f"iteration {number} failed: {cause}\nDumped to {folder}; the run repeats it when resumed from {again}."
    return f"{words}\nSee the environment that failed: python experiments/replay.py {folder}"


def read_failure(folder: Path) -> dict[str, Any]:
    """failure.json of a dump. Raises ValueError or FileNotFoundError that names the file."""
    path = folder / "failure.json"
    try:
        failure = json.loads(path.read_text())
        if type(failure["iteration"]) is not int:
            raise ValueError(f"iteration is {failure['iteration']!r}")
        return failure | {"replay_from": failure["replay_from"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path}: not the dump of a failure: {error}") from None


def _noted(note: Callable[..., str], *arguments: Any) -> str:
    try:
        return note(*arguments)
    except Exception as error:  # what failed first matters more
        log.warning("the failure's own dump failed: %s", error)
        return f"(no more is known: {error})"


def _arrays(path: Path, tree: Any) -> None:
    if any(isinstance(x, jax.Array) and x.is_deleted() for x in jax.tree.leaves(tree)):
        return  # given away to the iteration that raised
    np.savez(path, allow_pickle=False, **{k: np.asarray(v) for k, v in named_leaves(tree).items()})
