"""Clips by control: of the right length and rate, on the floor, and what their parameters say."""

from dataclasses import replace

import numpy as np
import pytest

from qes_jax.authoring import controlled
from qes_jax.authoring.catalogue import build, by_category, find_names, table
from qes_jax.authoring.quality import judge
from qes_jax.control.gait import NORMAL
from qes_jax.control.jump import VARIANTS
from qes_jax.motion.clip import FPS


def test_standing_is_a_clip_that_stands() -> None:
    clip = controlled.balance(1.0)
    assert clip.fps == FPS and abs(clip.duration - 1.0) < 2 / FPS
    assert np.ptp(clip.qpos[:, :3], axis=0).max() < 0.05
    assert judge(clip).floor_depth < 1.0


def test_a_walk_goes_where_its_heading_says() -> None:
    clip = controlled.walk(replace(NORMAL, step_length=0.3), 1.6)
    moved = clip.qpos[-1, :2] - clip.qpos[0, :2]
    assert moved[0] > 0.02 and clip.name == "controlled_walk"
    assert judge(clip).floor_depth < 1.5


def test_a_jump_leaves_the_floor() -> None:
    clip = controlled.jump(replace(VARIANTS["up"], stand_time=0.05), 1.6)
    assert np.any(~clip.contact.reshape(len(clip.qpos), -1).any(axis=1))
    assert np.ptp(clip.qpos[:, 2]) > 0.3


def test_the_catalogue_lists_them_apart_and_only_when_asked() -> None:
    found = find_names(["controlled"])
    assert by_category(found) == {"controlled": found} and "controlled_jump_twist" in found
    assert not set(found) & set(find_names([]))
    assert find_names(["controlled_balance"]) == ["controlled_balance"]
    assert table(["controlled_balance"])[2] == "| controlled | 1 | 0.1 | 0.0 |"
    with pytest.raises(KeyError, match="unknown built-in clip"):
        build("controlled_dance")
