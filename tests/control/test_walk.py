"""The controllers on MuJoCo's stage."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from qes_jax.control import features
from qes_jax.control.balance import Balance
from qes_jax.control.body import load_body
from qes_jax.control.clips import FPS, walk_clip
from qes_jax.control.dynamics import read_dynamics
from qes_jax.control.fast import Fast
from qes_jax.control.gait import RANGES, STYLES, FootState, WalkParameters, approached, style
from qes_jax.control.priority import strict
from qes_jax.control.simulate import Push, Record, Slope, Stage
from qes_jax.control.stride import Walker, plumb
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


@pytest.mark.parametrize("name", sorted(RANGES))
def test_no_parameter_is_nan_endless_or_out_of_range(name: str) -> None:
    low, high, *_ = RANGES[name]
    for value in (np.nan, np.inf, -np.inf, high + 0.01, low - 0.01, "0.1"):
        with pytest.raises(ValueError, match=f"walk parameter {name} is .*: expected {low:.4g} to {high:.4g}"):
            replace(style("normal"), **{name: value})
    for value in (low, high):
        assert getattr(replace(style("normal"), **{name: value}), name) == value


def test_parameters_follow_a_change_at_their_rates_and_turns_go_the_short_way() -> None:
    now, wanted = WalkParameters(heading=3.0, height=0.9), WalkParameters(heading=-3.0, height=0.98)
    half = approached(now, wanted, 0.1)
    assert half.height == pytest.approx(0.91) and half.heading == pytest.approx(3.07)
    assert approached(now, wanted, 10.0) == wanted


def _walked(start: WalkParameters, then: WalkParameters, until: float) -> Record:
    """From standing, `then` from 3 s on."""
    body = load_body()
    walker = Walker(body, start)
    stage = Stage(body, walker, Fast())
    stage.run(3.0)
    walker.parameters = then
    return stage.run(until - 3.0)


SUDDEN = {
    "a quarter turn": {"heading": np.pi / 2}, "a half turn": {"heading": -3.1}, "lean": {"trunk_offset": 0.15},
    "lean back": {"trunk_offset": -0.15}, "low": {"height": 0.88}, "stop": {"step_length": 0.0},
    "long": {"step_length": 0.7}, "wide": {"hip_shift": 0.2}, "quick": {"swing_duration": 0.4, "swing_delay": 0.0},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("change", SUDDEN)
def test_a_sudden_change_does_not_throw_the_walk_over(change: str) -> None:
    assert not _walked(style("normal"), replace(style("normal"), **SUDDEN[change]), 9.0).fell


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_corners_of_the_ranges_walk(seed: int) -> None:
    names = ("swing_duration", "step_length", "step_height", "swing_delay", "hip_shift", "trunk_offset", "height")
    ends = np.random.default_rng(seed).integers(0, 2, len(names))
    corner = WalkParameters(**{name: RANGES[name][end] for name, end in zip(names, ends, strict=True)})
    assert not _walked(corner, corner, 7.0).fell


@pytest.mark.slow
@pytest.mark.parametrize("heading", [0.0, 90.0, 180.0, 300.0])
def test_a_slope_of_eight_degrees_is_walked(heading: float) -> None:
    body = load_body()
    stage = Stage(body, Walker(body), Fast())
    stage.slope = Slope(8.0, heading)
    record = stage.run(9.0)
    assert not record.fell and record.com[-1][0] > 4.0  # and goes on ahead


def test_the_weight_line_meets_the_floor_below_the_body_along_gravity() -> None:
    body = load_body()
    stage = Stage(body, Balance(body), Fast())
    slope = Slope(8.0, 90.0, start=0.0, end=1.0)
    body.m.opt.gravity[:] = slope.gravity(2.0)
    mujoco.mj_forward(body.m, stage.data)
    d = read_dynamics(body, stage.data)
    com, weight = features.com(d).value, features.weight(d).value
    np.testing.assert_allclose(
        (weight - com)[:2], [0.0, -com[2] * np.tan(np.radians(8.0))], atol=1e-12
    )  # downhill: to the right
    np.testing.assert_allclose(plumb(d) @ [0, 0, 1], -body.m.opt.gravity / 9.81, atol=1e-12)


def test_a_slope_or_push_of_nan_is_told() -> None:
    with pytest.raises(ValueError, match="slope"):
        Slope(np.nan)
    with pytest.raises(ValueError, match="impulse"):
        Push((np.nan, 0.0), 1.0)
