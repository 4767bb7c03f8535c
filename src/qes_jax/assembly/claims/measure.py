"""A trained run evaluated on each family of motions, with the furniture where it was recorded and elsewhere."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qes_jax.assembly.claims.grid import Family
from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.trained import Trained, load_trained
from qes_jax.assembly.trial import Trial, make_trial
from qes_jax.evaluate.places import RECORDED, UNSEEN, Moved, track_moved
from qes_jax.evaluate.rollout import Tracked, track
from qes_jax.evaluate.starts import all_starts, clip_of_start, even_starts
from qes_jax.evaluate.tables import as_values, results
from qes_jax.runs.folder import RunFolder, as_json, write_json

FILE = "families.json"

Found = dict[str, dict[str, dict[str, dict[str, Any]]]]  # places -> threshold -> family -> values of `Scores`


@dataclass(frozen=True)
class Protocol:
    """How every run of a table is evaluated; the same for all, or nothing is compared."""

    families: Mapping[str, Sequence[str]]  # clips of each
    starts: int  # of each family
    places: int
    place_spread: float  # [m]
    seconds: float = 30.0


def protocol(families: Mapping[str, Family], starts: int, places: int, place_spread: float) -> Protocol:
    """For the test clips of these families. Raises ValueError at a number that is too small."""
    for name, value, least in (("starts", starts, 1), ("places", places, 0), ("place-spread", place_spread, 0.0)):
        if not value >= least:
            raise ValueError(f"--{name} {value}: expected at least {least}")
    return Protocol({name: family.test for name, family in families.items()}, starts, places, place_spread)


def measured(folder: Path, how: Protocol) -> Found | None:
    """What the run was measured to do; None where it was not yet, or otherwise."""
    path = RunFolder(folder).results / FILE
    if not path.is_file():
        return None
    try:
        saved = json.loads(path.read_text())
        return saved["found"] if saved["protocol"] == as_json(how) else None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not an evaluation by family: {error}; delete it to evaluate anew") from error


def measure(folder: Path, how: Protocol) -> Found:
    """Evaluate the run's newest checkpoint, unless it was, and keep the result beside it."""
    known = measured(folder, how)
    if known is not None:
        return known
    trained = load_trained(RunFolder(folder))
    names, clips = list(how.families), [find_clips(words) for words in how.families.values()]
    trial = make_trial(trained, [clip for members in clips for clip in members], how.seconds)
    family_of_clip = np.repeat(np.arange(len(names)), [len(members) for members in clips])
    starts, family = starts_by_family(trial, family_of_clip, how.starts)
    print(f"{folder.name}: following {len(starts)} starts", flush=True)
    found: Found = {}
    for where, follow in followers(how).items():
        tracked, rows = follow(trained, trial, starts, round(how.seconds * trial.fps))
        by_threshold = results(tracked, family[rows], names, trial.fps)
        found[where] = {f"{t:g}": {n: as_values(s) for n, s in v.items()} for t, v in by_threshold.items()}
    write_json(RunFolder(folder).results / FILE, {"protocol": as_json(how), "found": found})
    return found


def starts_by_family(trial: Trial, family_of_clip: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Start frames (B,), `count` of each family at even distances, and the family of each (B,)."""
    every = all_starts(trial.clips, trial.longer)
    family = family_of_clip[clip_of_start(every, trial.longer)]
    picked = [even_starts(every[family == i], count) for i in np.unique(family_of_clip)]
    return np.concatenate(picked), np.repeat(np.unique(family_of_clip), [len(p) for p in picked])


def followers(how: Protocol) -> dict[str, Callable]:
    """How starts are followed, by where the furniture stands: (trained, trial, starts, frames) -> errors of episodes,
    and for each of those (B,) which start it is of.
    """
    unseen = {UNSEEN: partial(_unseen, how)} if how.places else {}
    return {RECORDED: _recorded} | unseen


def _recorded(trained: Trained, trial: Trial, starts: np.ndarray, n_frames: int) -> tuple[Tracked, np.ndarray]:
    tracked = track(trial.task, trial.params, trained.act, trained.policy, starts, n_frames)
    return tracked, np.arange(len(starts))


def _unseen(
    how: Protocol, trained: Trained, trial: Trial, starts: np.ndarray, n_frames: int
) -> tuple[Tracked, np.ndarray]:
    moved = Moved(how.places, how.place_spread)
    tracked = track_moved(trial.task, trial.params, trained.act, trained.policy, starts, n_frames, moved)
    return tracked, np.tile(np.arange(len(starts)), how.places)
