"""The controllers on MuJoCo's stage."""

from dataclasses import replace

import numpy as np
import pytest

from qes_jax.control.balance import Balance
from qes_jax.control.body import load_body
from qes_jax.control.clips import FPS, walk_clip
from qes_jax.control.fast import Fast
from qes_jax.control.gait import STYLES, FootState, style
from qes_jax.control.priority import strict
from qes_jax.control.simulate import Push, Stage
from qes_jax.control.stride import Walker
from qes_jax.model.bodies import BODIES


@pytest.mark.parametrize("name", ["humanoid", "infant", "ostrich", "dinosaur", "humanoid_limbs2"])
def test_every_body_stands(name: str) -> None:
    body = load_body(name)
    stage = Stage(body, Balance(body), Fast())
    record = stage.run(1.5)
    assert name in BODIES and not record.fell
    assert np.abs(record.momentum[-1]).max() < 0.05 * body.mass * body.com_height
    assert np.abs(record.com[-1][:2] - record.com[-40][:2]).max() < 0.02
    assert np.nanmax(record.error("contact")[-40:]) < 1e-6


def test_a_push_while_standing() -> None:
    body = load_body()
    stage = Stage(body, Balance(body), Fast())
    stage.pushes = [Push((20.0, 0.0), 0.5)]
    record = stage.run(3.0)
    assert not record.fell
    assert max(c[0] for c in record.com) > record.com[100][0] + 0.005  # it was pushed, and came back
    assert np.linalg.norm(record.com[-1][:2] - record.com[100][:2]) < 0.05


def test_walking_steps_in_turn_and_its_parameters_may_change() -> None:
    body = load_body()
    walker = Walker(body, style("normal"))
    stage, seen = Stage(body, walker, Fast()), set()
    while stage.data.time < 3.6:
        if stage.data.time > 2.0:
            walker.parameters = replace(walker.parameters, heading=0.4, step_length=0.3)
        outcome = stage.tick()
        seen |= set(walker.walk.states)
        if len(stage.record.time) % 100 == 99:
            np.testing.assert_allclose(strict(outcome.problem).errors, outcome.solution.errors, atol=1e-4, rtol=1e-6)
    record = stage.record
    assert not record.fell and walker.walk.steps >= 5
    assert seen == set(FootState)
    way = record.com[-1][:2] - record.com[600][:2]
    assert way @ [np.cos(0.4), np.sin(0.4)] > 0.3 and way[1] > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", [s for s in STYLES if s != "fast"])
def test_styles_walk_for_ten_seconds(name: str) -> None:
    qpos = walk_clip(style(name), 10.0)
    assert len(qpos) == round(10.0 * FPS) and np.isfinite(qpos).all()
    assert qpos[-1, 0] > 2.0
