"""The solver: targets met, ranges and bones kept, the rest held, wherever the pose stands."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.pose.edit import make_solver
from qes_jax.pose.figure import frames
from qes_jax.pose.refine import solve_definite
from qes_jax.pose.skeleton import JOINTS, joint_number
from qes_jax.pose.targets import Target, make_targets
from tests.pose.poses import FIGURE, WORLD

SLOTS = 6


@pytest.fixture(scope="module")
def solver():
    return make_solver(figure=FIGURE)


@pytest.fixture(scope="module")
def standing() -> np.ndarray:
    """The A-pose with bent knees and elbows."""
    qpos = WORLD.layout.home_qpos[:39].copy()
    for name, angle in (("elbow", 0.4), ("knee", 0.3), ("hip_pitch", 0.15)):
        for side in ("left", "right"):
            qpos[WORLD.layout.joint_qpos[WORLD.layout.joints.index(f"{side}_{name}")]] = angle
    return qpos.astype(np.float32)


def place(solver, qpos, name: str, *way: float) -> np.ndarray:
    """Where a joint is, or a way [m] from there."""
    return np.asarray(solver.points(qpos)[0][joint_number(name)]) + np.array(way or (0.0, 0.0, 0.0))


def test_positions_are_met_while_feet_are_pinned(solver, standing) -> None:
    feet = [Target(name, position=place(solver, standing, name)) for name in ("left_ankle", "right_ankle")]
    hand = place(solver, standing, "left_wrist", 0.25, 0.1, 0.3)
    qpos = np.asarray(solver.solve(standing, make_targets([Target("left_wrist", position=hand), *feet], SLOTS)))
    assert np.linalg.norm(place(solver, qpos, "left_wrist") - hand) < 1e-3
    for target in feet:
        assert np.linalg.norm(place(solver, qpos, target.joint) - target.position) < 1e-3
    assert np.linalg.norm(place(solver, qpos, "right_wrist") - place(solver, standing, "right_wrist")) < 0.12


def test_rotation_and_look_are_met_with_their_tolerance(solver, standing) -> None:
    turn = Rotation.from_euler("z", 40, degrees=True)
    head = solver.points(standing)[1][joint_number("head")]
    wanted = (turn * Rotation.from_quat(head, scalar_first=True)).as_quat(scalar_first=True)
    qpos = solver.solve(standing, make_targets([Target("head", rotation=wanted)], SLOTS))
    found = Rotation.from_quat(solver.points(qpos)[1][joint_number("head")], scalar_first=True)
    assert (found.inv() * Rotation.from_quat(wanted, scalar_first=True)).magnitude() < 2e-3
    targets = make_targets([Target("head", look_at=(1.0, 1.0, 1.2), tolerance=0.1)], SLOTS)
    qpos = solver.solve(standing, targets)
    point, quat = (np.asarray(x[joint_number("head")]) for x in solver.points(qpos))
    forward = Rotation.from_quat(quat, scalar_first=True).apply([1.0, 0.0, 0.0])
    ahead = np.array([1.0, 1.0, 1.2]) - point
    angle = np.arccos(forward @ ahead / np.linalg.norm(ahead))
    assert abs(angle - 0.1) < 5e-3
    np.testing.assert_allclose(solver.missing(qpos, targets), [angle, 0, 0, 0, 0, 0], atol=2e-3)


def test_what_is_met_or_weighs_nothing_moves_nothing(solver, standing) -> None:
    near = Target("left_wrist", position=place(solver, standing, "left_wrist", 0.03, 0.0, 0.0), tolerance=0.05)
    none = Target("left_wrist", position=place(solver, standing, "left_wrist", 0.3, 0.0, 0.0), weight=0.0)
    for target in (near, none):
        np.testing.assert_allclose(solver.solve(standing, make_targets([target], SLOTS)), standing, atol=1e-5)


def test_a_lesser_weight_gives_way(solver, standing) -> None:
    pinned, wish = (place(solver, standing, "left_wrist", 0.1, 0.0, up) for up in (0.1, -0.1))
    targets = [Target("left_wrist", position=pinned), Target("left_wrist", position=wish, weight=0.02)]
    qpos = solver.solve(standing, make_targets(targets, SLOTS))
    assert np.linalg.norm(place(solver, qpos, "left_wrist") - pinned) < 5e-3


def test_out_of_reach_is_approached_within_ranges_and_bones(solver, standing) -> None:
    feet = [Target(name, position=place(solver, standing, name)) for name in ("left_ankle", "right_ankle")]
    far = [Target("left_wrist", position=(1.6, 0.4, 1.9)), Target("right_wrist", position=(-1.5, -0.5, 0.2))]
    qpos = np.asarray(solver.solve(standing, make_targets([*far, *feet], SLOTS)))
    low, high = FIGURE.range.T
    assert np.isfinite(qpos).all() and (qpos[7:] >= low).all() and (qpos[7:] <= high).all()
    before, after = (np.asarray(solver.missing(q, make_targets(far, SLOTS))) for q in (standing, qpos))
    assert after.sum() < before.sum() - 0.5 and np.abs(solver.missing(qpos, make_targets(feet, SLOTS))).max() < 0.1
    assert abs(np.linalg.norm(qpos[3:7]) - 1) < 1e-5


def test_the_answer_turns_with_the_world_and_does_not_depend_on_the_batch(solver, standing) -> None:
    hand = place(solver, standing, "left_wrist", 0.2, 0.1, 0.2)
    turn, shift = Rotation.from_euler("z", 100, degrees=True), np.array([3.0, -2.0, 0.4])
    moved = standing.copy()
    moved[:3] = turn.apply(standing[:3]) + shift
    moved[3:7] = (turn * Rotation.from_quat(standing[3:7], scalar_first=True)).as_quat(scalar_first=True)
    here = make_targets([Target("left_wrist", position=hand)], SLOTS)
    there = make_targets([Target("left_wrist", position=turn.apply(hand) + shift)], SLOTS)
    both = jax.tree.map(lambda a, b: np.stack([a, b]), here, there)
    first, second = np.asarray(solver.solve_many(np.stack([standing, moved]), both))
    np.testing.assert_allclose(first[7:], second[7:], atol=2e-4)
    np.testing.assert_allclose(turn.apply(first[:3]) + shift, second[:3], atol=2e-4)


def test_bad_targets_are_explained() -> None:
    for target, words in (
        (Target("tail", position=(0, 0, 0)), "unknown joint 'tail'"),
        (Target("root", position=(0, 0, 0)), "pelvis"),
        (Target("head"), "gives none"),
        (Target("head", position=(0, 0, np.nan)), "position"),
        (Target("head", rotation=(0, 0, 0, 0)), "no quaternion"),
        (Target("head", position=(0, 0, 0), weight=-1.0), "weight"),
    ):
        with pytest.raises(ValueError, match=words):
            make_targets([target], SLOTS)
    with pytest.raises(ValueError, match="do not fit"):
        make_targets([Target(name, position=(0, 0, 0)) for name in JOINTS[1:]], SLOTS)


def test_elimination_solves_definite_systems() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 7, 7))
    matrix, right = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(7), rng.normal(size=(5, 7))
    found = solve_definite(jnp.asarray(np.moveaxis(matrix, 0, -1)), jnp.asarray(right.T))
    np.testing.assert_allclose(found.T, np.linalg.solve(matrix, right[..., None])[..., 0], rtol=2e-3, atol=2e-3)


def test_the_root_mark_follows_the_pelvis(standing) -> None:
    points = frames(FIGURE, jnp.asarray(standing)[:, None]).points[..., 0]
    np.testing.assert_allclose(points[0], [points[1, 0], points[1, 1], 0.0], atol=1e-6)
