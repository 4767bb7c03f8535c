"""FABRIK, the published networks, weights and the data set."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.files import save_npz
from qes_jax.paths import weights_dir
from qes_jax.pose.data import (
    PARTS,
    PoseSet,
    Source,
    join,
    load_poses,
    pairs,
    part_of,
    resample,
    save_poses,
    standard_poses,
)
from qes_jax.pose.fabrik import bone_lengths, fabrik, restore_lengths
from qes_jax.pose.figure import frames
from qes_jax.pose.paper import AutoEncoder, LatentSolver, Paper, scale_of, solve
from qes_jax.pose.prior import learned, start_features, start_params, stay
from qes_jax.pose.residual import look_up
from qes_jax.pose.skeleton import SETS, joint_number, numbers
from qes_jax.pose.targets import Target, Targets, make_targets
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


def test_broken_weights_are_named_with_their_entry(tmp_path: Path) -> None:
    shipped = weights_dir() / "pose" / "prior.npz"
    cut, nan, odd = (tmp_path / f"{name}.npz" for name in ("cut", "nan", "odd"))
    cut.write_bytes(shipped.read_bytes()[:5000])
    with np.load(shipped) as file:
        arrays = dict(file)
    save_npz(nan, **{**arrays, "mean": np.nan * arrays["mean"]})
    save_npz(odd, **{**arrays, "network/params/Dense_0/bias": np.zeros(3, np.float32)})
    for path, words in ((cut, "not readable"), (nan, "entry mean"), (odd, r"Dense_0/bias is \(3,\)")):
        with pytest.raises(ValueError, match=f"{path.name}: .*{words}"):
            load_prior(path)


def test_an_untrained_prior_stays(tmp_path: Path) -> None:
    qpos = jnp.asarray(random_poses(4, bend=0.3).T)
    params = start_params(start_features(qpos, frames(FIGURE, qpos).points), jax.random.key(0))
    targets = make_targets([Target("head", position=(0.0, 0.0, 1.5))], 3)
    slots = look_up(FIGURE, jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[..., None], 4, -1), targets))
    for found, expected in zip(learned(params, FIGURE, qpos, slots), stay(FIGURE, qpos, slots), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    save_tree(tmp_path / "prior.npz", params)
    np.testing.assert_allclose(load_prior(tmp_path / "prior.npz")(FIGURE, qpos, slots)[0], qpos, atol=1e-6)


def test_a_prior_says_nothing_where_nothing_is_asked_and_little_where_little_is() -> None:
    """Whatever the network has learned: here its last layer is random."""
    qpos = jnp.asarray(random_poses(4, bend=0.3).T)
    now = frames(FIGURE, qpos)
    params = start_params(start_features(qpos, now.points), jax.random.key(0))
    network = jax.tree.map(lambda x: x + 0.1 * jax.random.normal(jax.random.key(1), x.shape), params.network)
    head = now.points[joint_number("head")]

    def step(away: float, tolerance: float = 0.0) -> float:
        value = jnp.concatenate([head + away * jnp.array([[0.6], [0.0], [0.8]]), jnp.zeros((1, 4))])[None]
        shape = (1, 4)
        joint, one = jnp.full(shape, joint_number("head")), jnp.ones(shape)
        slots = look_up(FIGURE, Targets(joint, jnp.zeros(shape, int), value, one, tolerance * one))
        guess, _ = learned(params._replace(network=network), FIGURE, qpos, slots)
        return float(jnp.abs(guess - qpos).max())

    assert step(0.0) < 1e-4 < step(0.001) < 0.05 < step(0.3)
    assert step(0.02, tolerance=0.03) < 1e-4


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
    sources = [(Source(n, "test", "CC0", "test" if n == "b" else "train", 40),
                standard_poses(FIGURE, random_poses(40, seed=i), 30.0)) for i, n in enumerate("abc")]  # fmt: skip
    save_poses(tmp_path / "poses.npz", join(sources))
    poses = load_poses(tmp_path / "poses.npz")
    np.testing.assert_allclose(poses.qpos[:, :2], 0.0, atol=1e-5)
    assert len(poses.part("test").qpos) == 40
    part: PoseSet = poses.part("train")
    start, end = pairs(part, 500, 1.0, np.random.default_rng(0))
    assert (part.clip[start] == part.clip[end]).all() and np.abs(start - end).max() == 30
    with pytest.raises(ValueError, match="no poses for validation"):
        poses.part("validation")
    with pytest.raises(ValueError, match="no poses"):
        join([])


def test_a_broken_set_of_poses_is_explained(tmp_path: Path) -> None:
    source = Source("a", "test", "CC0", "train", 8)
    qpos = random_poses(8)
    save_poses(tmp_path / "poses.npz", join([(source, qpos)]))
    whole = (tmp_path / "poses.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    qpos[3, 7] = np.nan
    save_poses(tmp_path / "nan.npz", join([(source, qpos)]))
    for name, words in (("cut.npz", "not a set of poses"), ("nan.npz", "finite")):
        with pytest.raises(ValueError, match=words):
            load_poses(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"pose\.py data"):
        load_poses(tmp_path / "none.npz")


def test_a_clip_stays_in_its_part_whatever_else_there_is() -> None:
    names = [f"recording_{i}" for i in range(2000)]
    parts = [part_of(name) for name in names]
    share = [parts.count(part) / len(names) for part in PARTS]
    np.testing.assert_allclose(share, [0.8, 0.1, 0.1], atol=0.03)
    assert {part_of(name, own=True) for name in names} == {"train"}
    assert {part_of(f"test_{name}", own=True) for name in names} == {"validation", "test"}
