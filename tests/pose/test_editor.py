"""The editor without a window: drags, pins, symmetry, history, named poses, key poses."""

from pathlib import Path

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import SCENES
from qes_jax.model.world import World, build_world
from qes_jax.motion.clip import load_clip, save_clip
from qes_jax.paths import weights_dir
from qes_jax.pose.editor import state as edits
from qes_jax.pose.editor.beside import beside
from qes_jax.pose.editor.desk import Desk, make_tools
from qes_jax.pose.editor.library import PoseError, list_poses, load_pose, save_pose
from qes_jax.pose.editor.state import Tools
from qes_jax.pose.editor.symmetry import flip, flip_point
from qes_jax.pose.editor.timeline import Key, interpolate, planted, timeline_clip, with_key
from qes_jax.pose.skeleton import joint_number
from qes_jax.pose.targets import Target
from qes_jax.pose.weights import load_prior

REACH = np.array([0.15, 0.05, 0.25])  # [m] from where the wrist hangs to where it is dragged


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


@pytest.fixture(scope="module")
def tools(world: World) -> Tools:
    return make_tools(world)


@pytest.fixture
def desk(tools: Tools, world: World) -> Desk:
    return Desk(tools, world.layout.key_qpos["a_pose"])


def where(desk: Desk, joint: str) -> np.ndarray:
    return np.asarray(desk.tools.solver.points(jnp.asarray(desk.state.qpos))[0])[joint_number(joint)]


def drag_wrist(desk: Desk) -> np.ndarray:
    desk.select("left_wrist", "position")
    place, quat = desk.grip()
    desk.drag(place + REACH, quat)
    desk.drop()
    return place + REACH


def test_a_drag_moves_the_joint_and_keeps_the_pins(desk: Desk) -> None:
    foot = where(desk, "left_ankle")
    place = drag_wrist(desk)
    assert np.linalg.norm(where(desk, "left_wrist") - place) < 2e-3
    assert np.linalg.norm(where(desk, "left_ankle") - foot) < 1e-3
    assert not edits.is_pinned(desk.state, "left_wrist")


def test_where_a_drag_ends_does_not_depend_on_its_way(desk: Desk) -> None:
    desk.select("left_wrist", "position")
    place, quat = desk.grip()
    for step in ([0.0, 0.3, 0.1], [-0.2, 0.1, 0.4], [0.0, 0.0, 0.0]):
        desk.drag(place + step, quat)
    np.testing.assert_allclose(desk.state.qpos, desk.base.qpos, atol=2e-3)


def test_the_trained_prior_leaves_a_pose_where_nothing_is_asked(world: World) -> None:
    desk = Desk(make_tools(world, load_prior(weights_dir() / "pose" / "prior.npz")), world.layout.key_qpos["a_pose"])
    for joint in ("head", "left_wrist"):
        desk.select(joint)
        place, quat = desk.grip()
        desk.drag(place, quat)
        np.testing.assert_allclose(desk.state.qpos, desk.base.qpos, atol=1e-4)
        desk.drag(place + np.array([0.005, 0.0, -0.005]), quat)
        assert np.abs(desk.state.qpos - desk.base.qpos).max() < 0.15  # 8 degrees
        desk.cancel()


@pytest.mark.parametrize("symmetric", [False, True])
def test_straight_legs_fold_where_the_pelvis_is_pulled_straight_down(desk: Desk, symmetric: bool) -> None:
    """No small bend shortens a straight leg: from there no step of a solver leads anywhere."""
    desk.symmetry(symmetric)
    desk.select("pelvis")
    place, quat = desk.grip()
    foot = where(desk, "left_ankle")
    desk.enter(place - [0.0, 0.0, 0.12], quat)
    assert np.linalg.norm(where(desk, "pelvis") - place + [0.0, 0.0, 0.12]) < 3e-3
    assert np.linalg.norm(where(desk, "left_ankle") - foot) < 3e-3


def test_undo_and_redo_bring_back_exactly_what_was(desk: Desk) -> None:
    before = desk.state.qpos
    drag_wrist(desk)
    after = desk.state.qpos
    desk.undo()
    np.testing.assert_array_equal(desk.state.qpos, before)
    desk.undo()  # nothing is left: no error
    desk.redo()
    np.testing.assert_array_equal(desk.state.qpos, after)
    desk.reset()
    np.testing.assert_array_equal(desk.state.qpos, before)


def test_hold_pins_and_release_lets_go(desk: Desk) -> None:
    desk.hold = True
    place = drag_wrist(desk)
    desk.select("head")
    head, quat = desk.grip()
    desk.enter(head + np.array([0.1, 0.0, -0.05]), quat)
    assert np.linalg.norm(where(desk, "left_wrist") - place) < 3e-3
    desk.select("left_wrist")
    desk.release()
    assert not edits.is_pinned(desk.state, "left_wrist")


def test_the_head_looks_where_it_is_told(desk: Desk) -> None:
    desk.select("head", "look_at")
    point = np.array([1.0, 0.6, 1.2])
    desk.drag(point, np.array([1.0, 0, 0, 0]))
    assert desk.target is not None
    away = edits.missing(desk.state, desk.tools, [desk.target])
    before = edits.missing(desk.base, desk.tools, [desk.target])
    assert away[0] < np.radians(1) < before[0]


def test_a_symmetric_pose_is_its_own_mirror_image_and_both_hands_arrive(desk: Desk) -> None:
    desk.symmetry(True)
    place = drag_wrist(desk)
    np.testing.assert_allclose(flip(desk.tools.mirror, desk.state.qpos), desk.state.qpos, atol=1e-6)
    for side, sign in (("left", 1), ("right", -1)):
        assert np.linalg.norm(where(desk, f"{side}_wrist") - place * [1, sign, 1]) < 1e-3


def test_mirroring_twice_is_the_pose_again_and_exchanges_the_hands(desk: Desk) -> None:
    place = drag_wrist(desk)
    before = desk.state.qpos
    desk.mirror()
    assert np.linalg.norm(where(desk, "right_wrist") - flip_point(before, place)) < 2e-3
    desk.mirror()
    np.testing.assert_allclose(desk.state.qpos, before, atol=1e-9)
    desk.copy_side("left")
    mirror, qpos = desk.tools.mirror, desk.state.qpos
    limbs = 7 + np.flatnonzero(mirror.left | mirror.right)
    np.testing.assert_allclose(flip(mirror, qpos)[limbs], qpos[limbs], atol=1e-12)
    np.testing.assert_array_equal(qpos[7:][mirror.left], before[7:][mirror.left])


def test_carrying_the_whole_pose_moves_every_joint_and_pin_alike(desk: Desk) -> None:
    before = {j: where(desk, j) for j in ("head", "left_ankle")}
    desk.select("root")
    place, _ = desk.grip()
    desk.enter(place + np.array([1.0, 2.0, 0.0]), np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]))
    for joint, old in before.items():
        x, y, z = old - place
        np.testing.assert_allclose(where(desk, joint), place + np.array([1 - y, 2 + x, z]), atol=1e-4)
    goals = [g for g in desk.state.goals if g.joint == "left_ankle" and g.position is not None]
    np.testing.assert_allclose(goals[0].position, where(desk, "left_ankle"), atol=1e-4)


def test_a_target_of_too_many_is_refused_and_changes_nothing(desk: Desk) -> None:
    for joint in ("left_elbow", "right_elbow", "left_knee", "right_knee", "head", "neck", "pelvis", "spine1", "spine2"):
        desk.select(joint, "rotation")
        desk.pin()
    desk.select("left_fingers", "rotation")
    desk.pin()
    before = desk.state
    desk.select("right_fingers", "rotation")
    desk.pin()
    desk.select("left_wrist", "position")
    with pytest.raises(ValueError, match="release some joint"):
        desk.drag(np.array([0.3, 0.3, 1.0]), np.array([1.0, 0, 0, 0]))
    assert desk.state.qpos is before.qpos


def test_fabrik_beside_meets_the_same_targets(desk: Desk) -> None:
    targets = [Target("left_wrist", position=tuple(where(desk, "left_wrist") + REACH))]
    result = beside("FABRIK", desk.state, desk.tools, targets)
    assert result.greatest < 2e-3
    with pytest.raises(ValueError, match="expected one of"):
        beside("magic", desk.state, desk.tools, targets)


def test_named_poses_come_back_and_broken_ones_are_refused(tmp_path: Path, desk: Desk, world: World) -> None:
    drag_wrist(desk)
    path = save_pose(tmp_path, " reach up ", desk.state.qpos, world)
    assert list_poses(tmp_path) == ["reach up"]
    np.testing.assert_allclose(load_pose(path, world), desk.state.qpos, atol=2e-6)
    text = path.read_text()
    for broken, word in (
        ("{", "not a pose"), (text.replace('"left_knee"', '"third_knee"'), "hinges"),
        (text.replace('"height": 1.75', '"height": "tall"'), "height"),
        (text.replace('"version": 1', '"version": 9'), "9"),
    ):  # fmt: skip
        path.write_text(broken)
        with pytest.raises(PoseError, match=word):
            load_pose(path, world)
    for name in ("../out", "", "a/b", ".hidden"):
        with pytest.raises(PoseError, match="no name"):
            save_pose(tmp_path, name, desk.state.qpos, world)
    assert list_poses(tmp_path) == ["reach up"]
    tall = build_world(CharacterConfig(height=1.9))
    path.write_text(text)
    assert load_pose(path, tall)[2] == pytest.approx(desk.state.qpos[2] * 1.9 / 1.75, abs=1e-5)


def keys_of(desk: Desk) -> tuple[Key, ...]:
    """Standing, crouched with the feet where they were, turned about and risen."""
    desk.add_key(0.0)
    desk.select("pelvis", "position")
    place, quat = desk.grip()
    desk.enter(place - [0.1, 0.1, 0.25], quat)
    assert place[2] - where(desk, "pelvis")[2] > 0.2
    desk.add_key(1.0)
    desk.reset()
    desk.select("root")
    desk.enter(np.array([0.3, 0.0, 0.0]), np.array([np.cos(1.2), 0, 0, np.sin(1.2)]))
    desk.add_key(2.0)
    return desk.keys


def test_the_motion_passes_through_its_keys_smoothly_and_within_the_hinges_ranges(desk: Desk, world: World) -> None:
    keys = keys_of(desk)
    assert [k.time for k in keys] == [0.0, 1.0, 2.0]
    qpos = interpolate(keys, 100.0)
    assert qpos.shape == (201, 39)
    for key in keys:
        row = qpos[round(100 * key.time)]
        np.testing.assert_allclose(np.delete(row, np.s_[3:7]), np.delete(key.qpos, np.s_[3:7]), atol=1e-9)
        assert abs(row[3:7] @ key.qpos[3:7]) == pytest.approx(1.0, abs=1e-9)
    low, high = world.layout.joint_range.T
    assert (qpos[:, 7:] >= low - 1e-9).all() and (qpos[:, 7:] <= high + 1e-9).all()
    speed = np.zeros((200, world.plain.nv))
    for t in range(200):
        mujoco.mj_differentiatePos(world.plain, speed[t], 0.01, qpos[t], qpos[t + 1])
    assert np.abs(np.diff(speed, axis=0)).max() < 0.2  # no jump at a key: 20 rad/s^2 at most
    assert np.abs(speed[[0, -1]]).max() < 0.1  # at rest at both ends


def test_feet_that_stay_between_keys_do_not_slide(desk: Desk) -> None:
    keys = keys_of(desk)[:2]
    plain = interpolate(keys)
    held = planted(keys, plain, desk.tools.plain)
    foot = joint_number("left_ankle")

    def slide(qpos: np.ndarray) -> float:
        places = np.stack([desk.tools.solver.points(jnp.asarray(q))[0][foot] for q in qpos])
        return float(np.linalg.norm(places - places[0], axis=1).max())

    assert slide(held) < 3e-3 < 0.5 * slide(plain)
    np.testing.assert_allclose(held[[0, -1]], plain[[0, -1]], atol=2e-3)
    assert np.abs(np.diff(held[:, 7:], 2, axis=0)).max() < 2 * np.abs(np.diff(plain[:, 7:], 2, axis=0)).max()


def test_bad_times_and_too_few_keys_are_refused(desk: Desk) -> None:
    key = Key(1.0, desk.state.qpos)
    with pytest.raises(ValueError, match="two key poses"):
        interpolate((key,))
    with pytest.raises(ValueError, match="expected 0 to"):
        with_key((), Key(float("nan"), desk.state.qpos))
    assert len(with_key((key,), Key(1.05, desk.state.qpos))) == 1  # in place of the near one


def test_a_motion_in_a_scene_becomes_a_clip_that_loads(tmp_path: Path, desk: Desk) -> None:
    scene = SCENES["tilting_chair"]
    world = build_world(pieces=scene.pieces)
    keys = keys_of(desk)
    clip = timeline_clip(keys, interpolate(keys), "turn", scene, world)
    save_clip(tmp_path / "turn.npz", clip)
    again = load_clip(tmp_path / "turn.npz")
    assert (again.n_frames, again.scene) == (73, scene)
    np.testing.assert_allclose(again.qpos[:, 39:], world.layout.home_qpos[39:] + np.zeros((73, 1)), atol=1e-6)


def test_a_number_typed_key_by_key_is_one_step(desk: Desk) -> None:
    place, quat = desk.grip()
    before = desk.state.qpos
    desk.enter(place + np.array([0.1, 0.0, 0.0]), quat)
    desk.enter(place + np.array([0.15, 0.0, 0.0]), quat, again=True)
    typed = desk.state.qpos
    desk.undo()
    np.testing.assert_array_equal(desk.state.qpos, before)
    desk.enter(place + np.array([0.15, 0.0, 0.0]), quat)
    np.testing.assert_array_equal(desk.state.qpos, typed)  # what was half typed has left no trace
