"""Packed clips against MuJoCo's kinematics in the shared world, steady turns, and the split's promises."""

import dataclasses
import shutil

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.model import scene as scene_module
from qes_jax.model.scene import PARKED, SCENES, Piece, Scene
from qes_jax.motion import library
from qes_jax.motion.build import kinematics
from qes_jax.motion.clip import ClipError, save_clip
from qes_jax.motion.library import load_clips, pack, rescale_clip, split_clips, world_for
from qes_jax.motion.mirror import mirror_clip
from qes_jax.paths import mjcf_dir
from tests.motion.synthetic import wobble

BOX = (0.3, 0.5, 0.2)
TWO_BOXES = Scene("two", (Piece("b", "box", BOX, (1.0, 0.0, 0.0), 0.4), Piece("a", "box", BOX, (2.0, 0.5, 0.0))))


@pytest.fixture(scope="module")
def clips():
    return [
        wobble(TWO_BOXES, 9, name="boxes"),
        wobble(SCENES["flat"], 7, seed=1, name="flat"),
        wobble(SCENES["stool"], 5, seed=2, name="stool"),
    ]


@pytest.fixture(scope="module")
def world(clips):
    return world_for(clips, "pd", 1 / 72)


@pytest.fixture(scope="module")
def reference(clips, world):
    return pack(clips, world)


def test_world_has_the_fewest_pieces_and_the_asked_drive(world):
    assert [p.kind for p in world.pieces] == ["box", "box", "stool"]
    assert world.character.actuation == "pd" and world.plain.opt.timestep == 1 / 72


def test_a_world_can_have_more_than_its_clips_need(clips):
    assert [p.kind for p in world_for(clips[:1], also=[SCENES["stool"]]).pieces] == ["stool", "box", "box"]
    assert [p.kind for p in world_for(clips, also=[SCENES["stool"]]).pieces] == ["stool", "box", "box"]


def test_frames_lie_end_to_end(clips, reference):
    assert reference.start.tolist() == [0, 9, 16] and reference.length.tolist() == [9, 7, 5]
    for c, clip in enumerate(clips):
        rows = slice(int(reference.start[c]), int(reference.start[c] + reference.length[c]))
        assert set(np.asarray(reference.clip_of_frame[rows])) == {c}
        np.testing.assert_array_equal(reference.qpos[rows], clip.qpos)
        np.testing.assert_array_equal(reference.sensor_pos[rows], clip.sensor_pos)
    assert {str(a.dtype) for a in reference} == {"float32", "int32", "bool"}


def test_pieces_that_a_clip_lacks_are_parked(clips, reference):
    assert reference.present.tolist() == [[True, True, False], [False] * 3, [False, False, True]]
    np.testing.assert_allclose(reference.placement[0, 0], TWO_BOXES.pieces[0].placement(), atol=1e-6)
    np.testing.assert_allclose(reference.placement[0, 1], TWO_BOXES.pieces[1].placement(), atol=1e-6)
    assert np.asarray(reference.placement[1, 0]).tolist() == list(PARKED)


def test_contact_columns_follow_the_pieces(clips, reference):
    np.testing.assert_array_equal(reference.contact[:9, :, :3], clips[0].contact)
    np.testing.assert_array_equal(reference.contact[16:][..., [0, 3]], clips[2].contact)
    assert not np.asarray(reference.contact[:9, :, 3]).any() and not np.asarray(reference.contact[9:16, :, 1:]).any()


def test_link_velocities_against_mujoco(world):
    """Central differences of a finely sampled motion are MuJoCo's body velocities."""
    fps = 400.0
    clip = wobble(SCENES["flat"], 9, fps=fps)
    fine = pack([clip], world_for([clip]))
    m, data = world.plain, mujoco.MjData(world.plain)
    data.qpos[:], v = world.layout.home_qpos, np.zeros(m.nv)
    data.qpos[: clip.qpos.shape[1]] = clip.qpos[4]
    mujoco.mj_differentiatePos(
        m, v, 2 / fps, *(np.r_[clip.qpos[t], data.qpos[clip.qpos.shape[1] :]].astype(float) for t in (3, 5))
    )
    data.qvel[:] = v
    mujoco.mj_forward(m, data)
    spatial = np.zeros(6)
    for row, body in enumerate(world.layout.link_ids + 1):
        mujoco.mj_objectVelocity(m, data, mujoco.mjtObj.mjOBJ_XBODY, body, spatial, 0)
        np.testing.assert_allclose(fine.link_angvel[4, row], spatial[:3], atol=0.01)
        np.testing.assert_allclose(fine.link_vel[4, row], spatial[3:], atol=0.01)


def test_angular_velocity_of_a_steady_turn():
    rate = np.array([0.3, -2.0, 1.1])
    turns = (Rotation.from_rotvec(np.outer(np.arange(6) / 36, rate)) * Rotation.from_rotvec([1.0, 2.0, 0.5])).as_quat(
        scalar_first=True
    )
    turns[::2] *= -1  # both signs are the same rotation
    np.testing.assert_allclose(
        library.angular_velocity(turns.astype(np.float32), 36.0), np.tile(rate, (6, 1)), atol=2e-4
    )


def test_jointed_pieces_keep_their_coordinates(tmp_path, monkeypatch):
    """A clip with its swivel first, in a world that has it last."""
    shutil.copytree(mjcf_dir(), tmp_path / "mjcf")
    (tmp_path / "mjcf" / "scenes" / "swivel.xml").write_text(SWIVEL)
    monkeypatch.setattr(scene_module, "mjcf_dir", lambda: tmp_path / "mjcf")
    stool, swivel = Piece("stool", "stool"), Piece("mine", "swivel", pos=(1.0, 0.0, 0.0))
    clips = [
        wobble(Scene("a", (stool,)), 4, name="a"),
        wobble(Scene("b", (Piece("other", "swivel"), Piece("more", "swivel"))), 4, seed=1, name="b"),
        wobble(Scene("c", (swivel, stool)), 4, seed=2, name="c"),
    ]
    world = world_for(clips)
    packed, objects = pack(clips, world), world.layout.object_qpos
    assert len(objects) == 4
    np.testing.assert_array_equal(
        packed.qpos[:4, objects], np.tile(world.layout.home_qpos[objects], (4, 1)).astype(np.float32)
    )
    np.testing.assert_array_equal(packed.qpos[4:8, objects], clips[1].qpos[:, -4:])
    np.testing.assert_array_equal(packed.qpos[8:, objects[:2]], clips[2].qpos[:, -2:])
    np.testing.assert_array_equal(packed.qvel[8:, world.layout.object_dofs[:2]], clips[2].qvel[:, -2:])


SWIVEL = """<mujoco><worldbody><body name="swivel"><geom type="box" size=".1 .1 .1"/>
  <body name="seat" pos="0 0 .3"><joint name="turn" axis="0 0 1"/><geom type="box" size=".2 .2 .02"/>
    <body name="back" pos="-.2 0 0"><joint name="tilt" axis="0 1 0"/><geom type="box" size=".02 .2 .2"/></body>
  </body></body></worldbody></mujoco>"""


def test_mixed_heights_rates_and_lacking_pieces_are_named(clips, world):
    with pytest.raises(ClipError, match=r"'boxes' and 'tall'.*one height"):
        world_for([clips[0], dataclasses.replace(clips[1], name="tall", height=1.8)])
    with pytest.raises(ClipError, match=r"'boxes' and 'flat'.*Hz"):
        world_for([clips[0], dataclasses.replace(clips[1], fps=30.0)])
    with pytest.raises(ClipError, match=r"'stool'.*no piece"):
        pack([clips[2]], world_for([clips[0]]))
    with pytest.raises(ClipError, match="no clips"):
        world_for([])


def test_a_rescaled_clip_has_the_kinematics_of_the_scaled_body(clips):
    clip = rescale_clip(clips[0], 1.5)
    link_pos, _, sensor_pos, _ = kinematics(world_for([clip]), clip.qpos.astype(float))
    np.testing.assert_allclose(clip.link_pos, link_pos, atol=2e-6)
    np.testing.assert_allclose(clip.sensor_pos, sensor_pos, atol=2e-6)
    np.testing.assert_allclose(clip.scene.pieces[0].size, np.array(BOX) * 1.5 / 1.75)
    with pytest.raises(ClipError, match="stool"):
        rescale_clip(clips[2], 1.5)


def test_split_keeps_twins_together_and_does_not_depend_on_the_others():
    flat = wobble(SCENES["flat"], 3)
    many = [dataclasses.replace(flat, name=f"clip{i}") for i in range(40)]
    both = [c for clip in many for c in (clip, mirror_clip(clip, world_for([clip])) if clip.name == "clip0" else clip)]
    both += [dataclasses.replace(c, name=c.name + "_mirror") for c in many[1:]]
    train, test = split_clips(both)
    sides = [{c.name.removesuffix("_mirror") for c in side} for side in (train, test)]
    assert not sides[0] & sides[1] and len(train) + len(test) == len(both) and 2 <= len(sides[1]) <= 16
    part = split_clips(many[:20])
    assert {c.name for c in part[1]} == sides[1] & {c.name for c in many[:20]}
    assert [len(side) for side in split_clips(many[:2], 1e-9)] == [1, 1]
    assert {c.name for c in split_clips(both, test=["clip3"])[1]} == {"clip3", "clip3_mirror"}
    with pytest.raises(ClipError, match="clip99"):
        split_clips(many, test=["clip99"])


def test_load_from_file_folder_and_glob(clips, tmp_path):
    for clip in clips:
        save_clip(tmp_path / f"{clip.name}.npz", clip)
    assert [c.name for c in load_clips(tmp_path)] == ["boxes", "flat", "stool"]
    assert [c.name for c in load_clips(str(tmp_path / "[bf]*.npz"))] == ["boxes", "flat"]
    assert [c.name for c in load_clips([tmp_path / "flat.npz", tmp_path])] == ["boxes", "flat", "stool"]


def test_what_was_found_instead_is_said(clips, tmp_path):
    (tmp_path / "walk.bvh").touch()
    for where in (tmp_path, tmp_path / "*.npz", tmp_path / "absent.npz"):
        with pytest.raises(ClipError, match=r"walk\.bvh"):
            load_clips(where)
    save_clip(tmp_path / "a.npz", clips[1])
    save_clip(tmp_path / "b.npz", clips[1])
    with pytest.raises(ClipError, match=r"a\.npz and .*b\.npz.*'flat'"):
        load_clips(tmp_path)


def test_only_the_sensors_known_survives_the_disk(clips, tmp_path):
    save_clip(tmp_path / "a.npz", dataclasses.replace(clips[1], body_known=False))
    loaded = load_clips(tmp_path / "a.npz")
    assert not loaded[0].body_known
    assert pack([clips[0], *loaded], world_for(clips)).body_known.tolist() == [True, False]
