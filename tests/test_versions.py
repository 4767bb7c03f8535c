"""Files that version 0.2 wrote stay readable, and say what they said: tests/fixtures/v0.2 holds one of each kind.

Never write these files anew: where a format changes, its reader keeps reading them, and a new folder is added.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qes_jax.assembly.trusting.judge import numbers_of
from qes_jax.assembly.trusting.subjects import subject
from qes_jax.live.person import Person

V02 = Path(__file__).parent / "fixtures" / "v0.2"


def is_clip(clip: Any) -> bool:
    return clip.name == "swaying" and clip.qpos.shape == (8, 39) and [p.name for p in clip.scene.pieces] == ["box"]


def is_scene(scene: Any) -> bool:
    return {p.name for p in scene.pieces} in ({"desk", "stool"}, {"crate", "stool"})


def is_policy(found: Any) -> bool:
    policy, mean_pose = found
    return policy.mean.shape == (12,) and np.allclose(mean_pose, np.linspace(-0.1, 0.1, 4))


KEPT: list[tuple[str, str, Callable[[Any], bool]]] = [
    ("clip", "clip", is_clip),
    ("track", "track", lambda track: track.pos.shape[1:] == (3, 3) and track.height == 1.75),
    ("scene, TOML", "scene_toml", is_scene),
    ("scene, MJCF", "scene_mjcf", is_scene),
    ("editor's pose", "pose", lambda qpos: qpos.shape == (39,)),
    ("poses", "poses", lambda poses: poses.sources[0].name == "swaying" and poses.qpos.shape == (8, 39)),
    ("person", "person", lambda person: person == Person("someone")),
    ("live session", "session", lambda session: session.policy == "walk" and len(session.op) == 8),
    ("episode", "episode", lambda episode: episode.name == "made" and episode.force.shape[0] == 8),
    ("policy's weights", "weights", is_policy),
    ("configuration", "weights", lambda config: config.ppo.actor_hidden == (8,)),
    ("learner", "learned", lambda found: float(found[0].lr) == pytest.approx(1e-3)),
]


@pytest.mark.parametrize(("name", "folder", "is_it"), KEPT, ids=[k[0] for k in KEPT])
def test_a_file_of_version_0_2_is_read(name: str, folder: str, is_it: Callable[[Any], bool]) -> None:
    one = subject(name)
    found = one.read(V02 / folder / one.main)
    assert is_it(found) and all(np.isfinite(x).all() for _, x in numbers_of(found))
