"""Measures of a fit against cases whose answer is known."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.world import build_world
from qes_jax.motion.contacts import label_contacts
from qes_jax.motion.fit_report import foot_slips, point_errors, quick_labels, report
from qes_jax.motion.kept import box_distance, kept_touches, runs
from qes_jax.motion.retarget import Fit
from tests.motion.squat import BOX, everything_touches, known_motion, recorded


@pytest.fixture(scope="module")
def exact() -> Fit:
    """A squat on the box that is its own fit."""
    world = build_world(CharacterConfig(height=1.68), (BOX,))
    qpos = known_motion(world, 1.0)
    recording = recorded(world, qpos)
    offset = np.array([a.offset for a in recording.anchors]) * 1.68 / 1.75
    return Fit(world, Scene("known", (BOX,)), recording, qpos, offset, np.zeros(len(qpos)), 0.0, 1.68, 1.0)


def test_distances_from_a_box_are_mujocos() -> None:
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="box" size="0.4 0.3 0.15" pos="0.5 -0.2 0.25" euler="0 0 40"/>'
        '<body mocap="true"><geom size="0.001"/></body></worldbody></mujoco>'
    )
    data, points = mujoco.MjData(m), np.random.default_rng(0).uniform(-1, 1.5, (60, 3))
    piece = replace(BOX, size=(0.8, 0.6, 0.3), pos=(0.5, -0.2, 0.1), yaw=np.radians(40))
    for point, mine in zip(points, box_distance(points, piece), strict=True):
        data.mocap_pos[0] = point
        mujoco.mj_kinematics(m, data)
        if mine > 0.002:
            assert np.isclose(mine, mujoco.mj_geomDistance(m, data, 0, 1, 9.0, None) + 0.001, atol=1e-5)
    assert box_distance(np.array([0.5, -0.2, 0.3]), piece) == pytest.approx(-0.1)


def test_an_exact_fit_is_told_as_one(exact: Fit) -> None:
    result = report(exact, everything_touches(exact))
    assert max(result[k] for k in ("mean_error_cm", "joint_p95_error_cm", "foot_skate_cm", "stance_slide_cm")) < 0.01
    assert result["touches"] == 2 and result["touches_kept"] == 1.0


def test_a_shift_is_the_error_unless_the_recording_was_lifted(exact: Fit) -> None:
    higher = exact.qpos + np.eye(exact.qpos.shape[1])[2] * 0.07
    errors = point_errors(replace(exact, qpos=higher))
    assert all(np.isclose(e, 7.0) for e in errors.values())
    lifted = replace(exact, qpos=higher, lift=np.full(len(higher), 0.07))
    assert np.allclose(list(point_errors(lifted).values()), 0.0, atol=1e-6)
    assert kept_touches(replace(exact, qpos=higher))["touches_kept"] == 0.0


def test_a_touch_that_a_shaky_point_leaves_for_an_instant_is_one(exact: Fit) -> None:
    points, half = exact.recording.points.copy(), len(exact.qpos) // 2
    up = np.array([0.0, 0.0, 1.0])
    points[half] += up  # as a marker that is lost; the speeds of its neighbours are off too
    assert kept_touches(replace(exact, recording=replace(exact.recording, points=points)))["touches"] == 2
    points[half - 4 : half + 4] += up
    assert kept_touches(replace(exact, recording=replace(exact.recording, points=points)))["touches"] == 4


def test_a_body_that_glides_skates(exact: Fit) -> None:
    gliding = exact.qpos.copy()
    gliding[:, 0] += 0.3 * np.arange(len(gliding)) / 36
    slips = foot_slips(replace(exact, qpos=gliding), everything_touches(exact))
    assert len(slips) == 2 and np.allclose(np.concatenate(slips), 0.3 / 36)
    assert foot_slips(replace(exact, qpos=gliding), np.zeros_like(everything_touches(exact))) == []


def test_a_flip_is_a_peak(exact: Fit) -> None:
    flipped = exact.qpos.copy()
    flipped[20, exact.world.layout.joint_qpos[8]] += 0.5
    peak = report(replace(exact, qpos=flipped), everything_touches(exact))["peak_acceleration"]
    assert abs(peak - 2 * 0.5 * 36**2) < 100


def test_runs() -> None:
    assert runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)] and runs(np.zeros(3, bool)) == []


@pytest.mark.slow
def test_quick_labels_are_the_labels(exact: Fit) -> None:
    assert np.array_equal(quick_labels(exact), label_contacts(exact.world, exact.qpos))
    assert quick_labels(exact)[:, :, 1].any() and not quick_labels(exact)[:, :, 0].any()
