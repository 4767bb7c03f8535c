"""Contact labels against distances by MuJoCo's C code, the speed condition, and the corrections file."""

import mujoco
import numpy as np
import pytest

from qes_jax.model.scene import Piece
from qes_jax.model.world import World, build_world
from qes_jax.motion.contacts import NEAR, CorrectionError, correct_contacts, label_contacts


@pytest.fixture(scope="module")
def world() -> World:
    step = Piece("step", "box", (0.6, 0.8, 0.3), (0.4, 0.1, 0.0), 0.4)
    return build_world(pieces=(step, Piece("chair", "chair", None, (-0.4, 0, 0))))


@pytest.fixture(scope="module")
def still_poses(world: World) -> np.ndarray:
    """Poses all over the pieces, each held for three frames: in the middle one the speed is zero."""
    rng = np.random.default_rng(0)
    n = 80
    low, high = world.layout.joint_range.T
    qpos = np.tile(world.layout.home_qpos, (n, 1))
    qpos[:, :3] += rng.uniform([-1.0, -0.8, -0.6], [1.0, 0.8, 0.3], (n, 3))
    quat = rng.normal(size=(n, 4)) * 0.3 + [1, 0, 0, 0]
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    qpos[:, world.layout.joint_qpos] = low + (high - low) * rng.uniform(size=(n, len(low)))
    return np.repeat(qpos, 3, axis=0)


def oracle(world: World, qpos: np.ndarray) -> np.ndarray:
    """(T, L, O) least signed distance [m] by mj_geomDistance."""
    m, layout = world.plain, world.layout
    data = mujoco.MjData(m)
    dist = np.full((len(qpos), len(layout.links), len(layout.objects)), np.inf)
    pairs = [(i, j) for i in np.flatnonzero(m.geom_contype == 1) for j in np.flatnonzero(m.geom_contype == 2)]
    for t, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        for i, j in pairs:
            link = list(layout.link_ids + 1).index(m.geom_bodyid[i])
            obj = 0 if m.geom_bodyid[j] == 0 else layout.body_object[m.geom_bodyid[j] - 1]
            dist[t, link, obj] = min(dist[t, link, obj], mujoco.mj_geomDistance(m, data, i, j, 1.0, None))
    return dist


def test_labels_agree_with_c_distances(world: World, still_poses: np.ndarray) -> None:
    labels = label_contacts(world, still_poses)[1::3]
    dist = oracle(world, still_poses[1::3])
    sure = np.abs(dist - NEAR) > 1e-4
    assert labels.shape == dist.shape and labels.dtype == np.uint8
    assert labels.any(axis=(0, 1)).all(), "every object is touched somewhere"
    wrong = sure & (labels != (dist <= NEAR))
    names = [(t, world.layout.links[k], world.layout.objects[o], dist[t, k, o]) for t, k, o in np.argwhere(wrong)]
    assert not wrong.any(), names


def test_a_foot_that_flies_past_does_not_touch(world: World) -> None:
    qpos = np.tile(world.layout.home_qpos, (20, 1))
    qpos[:, 1] += 3.0  # away from the pieces
    feet = [world.layout.links.index(n) for n in ("left_foot", "right_foot")]
    assert label_contacts(world, qpos)[:, feet, 0].all()
    qpos[:, 0] = np.arange(20) / 36 * 2.0  # [m] at 2 m/s
    assert not label_contacts(world, qpos).any()


def test_corrections_are_applied_in_order(world: World, tmp_path) -> None:
    path = tmp_path / "fix.txt"
    path.write_text("# a comment\nframes 2-5: left_hand chair on  # it leans\n\nframes 4-4: left_hand chair off\n")
    labels = correct_contacts(np.zeros((8, len(world.layout.links), 3), np.uint8), path, world)
    hand, chair = world.layout.links.index("left_hand"), world.layout.objects.index("chair")
    assert labels[:, hand, chair].tolist() == [0, 0, 1, 1, 0, 1, 0, 0] and labels.sum() == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("frames 1-2 left_hand chair on", "expected 'frames"),
        ("frames 1-9: left_hand chair on", "0-7"),
        ("frames 3-2: left_hand chair on", "0-7"),
        ("frames 1-2: hand chair on", "unknown link 'hand'"),
        ("frames 1-2: left_hand sofa on", "unknown object 'sofa'"),
        ("frames 1-2: left_hand chair yes", "on or off"),
        ("frames a-2: left_hand chair on", "expected 'frames"),
    ],
)
def test_a_bad_correction_names_file_and_line(world: World, tmp_path, line: str, message: str) -> None:
    path = tmp_path / "fix.txt"
    path.write_text("# first line\n" + line)
    with pytest.raises(CorrectionError, match=rf"fix\.txt, line 2: .*{message}"):
        correct_contacts(np.zeros((8, len(world.layout.links), 3), np.uint8), path, world)
