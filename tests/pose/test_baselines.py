"""FABRIK, the published networks, weights and the data set."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.pose.data import PoseSet, Source, join, load_poses, pairs, resample, save_poses, standard_poses
from qes_jax.pose.fabrik import bone_lengths, fabrik, restore_lengths
from qes_jax.pose.figure import frames
from qes_jax.pose.paper import AutoEncoder, LatentSolver, Paper, scale_of, solve
from qes_jax.pose.prior import learned, start_features, start_params, stay
from qes_jax.pose.residual import look_up
from qes_jax.pose.skeleton import SETS, numbers
from qes_jax.pose.targets import Target, make_targets
from qes_jax.pose.weights import load_paper, load_prior, n_bytes, save_tree
from tests.pose.poses import FIGURE, random_poses

POINTS = frames(FIGURE, jnp.asarray(random_poses(8, bend=0.3).T)).points


def test_lengths_are_restored_exactly_whatever_the_points() -> None:
    wrong = POINTS + 0.1 * jax.random.normal(jax.random.key(0), POINTS.shape)
    right = restore_lengths(wrong, bone_lengths(POINTS))
    np.testing.assert_allclose(bone_lengths(right)[2:], bone_lengths(POINTS)[2:], atol=1e-6)
    np.testing.assert_allclose(right[1], wrong[1])


def test_fabrik_reaches_several_targets_where_one_sweep_does_not() -> None:
    wanted = np.zeros((22, 8), bool)
    wanted[numbers(SETS["hands"])] = True
    middle = POINTS[10:11]
    goal = jnp.where(wanted[:, None], middle + 0.85 * (POINTS - middle), POINTS)  # both hands nearer to the spine
    once, moved = (fabrik(POINTS, goal, jnp.asarray(wanted), sweeps) for sweeps in (1, 100))
    error = [np.linalg.norm((points - goal)[numbers(SETS["hands"])], axis=1).max() for points in (moved, once)]
    assert error[0] < 2e-3 < error[1]
    np.testing.assert_allclose(bone_lengths(moved)[2:], bone_lengths(POINTS)[2:], atol=1e-5)
    np.testing.assert_allclose(moved[2:10], POINTS[2:10], atol=1e-5)  # no way from a leg to a target


def test_the_published_sizes() -> None:
    coder = AutoEncoder().init(jax.random.key(0), jnp.zeros((1, 66)))
    shapes = {k: v.shape for k, v in coder["params"].items()}
    assert [shapes[f"matrix{i}"] for i in range(3)] == [(66, 200), (200, 200), (200, 64)]
    solver = LatentSolver().init(jax.random.key(0), jnp.zeros((1, 64)), jnp.zeros((1, 15)))
    assert [v["kernel"].shape for v in solver["params"].values()] == [(79, 126), (126, 126), (126, 64)]


def test_the_decoder_is_the_transposed_encoder() -> None:
    coder = AutoEncoder()
    params = coder.init(jax.random.key(0), jnp.zeros((1, 66)))
    z = jax.random.normal(jax.random.key(1), (3, 64))
    m = [np.asarray(params["params"][f"matrix{i}"], np.float64) for i in range(3)]
    by_hand = np.maximum(np.maximum(np.asarray(z) @ m[2].T, 0) @ m[1].T, 0) @ m[0].T
    np.testing.assert_allclose(coder.apply(params, z, method="decode"), by_hand, atol=1e-4)


def test_weights_come_back(tmp_path: Path) -> None:
    key = jax.random.key(0)
    points = np.moveaxis(np.asarray(POINTS), -1, 0)
    coder = AutoEncoder().init(key, jnp.zeros((1, 66)))
    solvers = {n: LatentSolver().init(key, jnp.zeros((1, 64)), jnp.zeros((1, 3 * len(SETS[n])))) for n in SETS}
    paper = Paper(scale_of(points), coder, solvers)
    save_tree(tmp_path / "paper.npz", paper)
    again = load_paper(tmp_path / "paper.npz")
    assert n_bytes(again) == n_bytes(paper)
    names = ("head", "feet", "hands")
    np.testing.assert_array_equal(solve(again, names, points, points), solve(paper, names, points, points))
    with pytest.raises(ValueError, match=r"paper\.npz"):
        load_prior(tmp_path / "paper.npz")
    with pytest.raises(FileNotFoundError):
        load_prior(tmp_path / "none.npz")


def test_an_untrained_prior_stays(tmp_path: Path) -> None:
    qpos = jnp.asarray(random_poses(4, bend=0.3).T)
    params = start_params(start_features(qpos, frames(FIGURE, qpos).points), jax.random.key(0))
    targets = make_targets([Target("head", position=(0.0, 0.0, 1.5))], 3)
    slots = look_up(FIGURE, jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[..., None], 4, -1), targets))
    for found, expected in zip(learned(params, FIGURE, qpos, slots), stay(FIGURE, qpos, slots), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    save_tree(tmp_path / "prior.npz", params)
    np.testing.assert_allclose(load_prior(tmp_path / "prior.npz")(FIGURE, qpos, slots)[0], qpos, atol=1e-6)


def test_resampling_keeps_a_steady_motion() -> None:
    qpos = random_poses(2)[[0]].repeat(37, axis=0).astype(np.float64)
    qpos[:, 0] = np.arange(37) / 36.0
    yaw = np.arange(37) / 36.0
    qpos[:, 3:7] = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    rows = resample(qpos, 36.0)
    times = np.arange(31) / 30.0
    np.testing.assert_allclose(rows[:, 0], times, atol=1e-9)
    np.testing.assert_allclose(2 * np.arctan2(rows[:, 6], rows[:, 3]), times, atol=1e-9)


def test_pairs_stay_in_their_clip_and_second(tmp_path: Path) -> None:
    sources = [(Source(n, "test", "CC0", n == "b", 40), standard_poses(FIGURE, random_poses(40, seed=i), 30.0))
               for i, n in enumerate("abc")]  # fmt: skip
    save_poses(tmp_path / "poses.npz", join(sources))
    poses = load_poses(tmp_path / "poses.npz")
    np.testing.assert_allclose(poses.qpos[:, :2], 0.0, atol=1e-5)
    assert len(poses.part(held_out=True).qpos) == 40
    part: PoseSet = poses.part(held_out=False)
    start, end = pairs(part, 500, 1.0, np.random.default_rng(0))
    assert (part.clip[start] == part.clip[end]).all() and np.abs(start - end).max() == 30
    with pytest.raises(ValueError, match="no poses"):
        join([])
