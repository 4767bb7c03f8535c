"""Scenes from the user's files: what is read is what stands there, and errors name file and piece."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from qes_jax.model.scene import SCENES, Scene, make_piece, union
from qes_jax.model.scene_check import SceneWarning
from qes_jax.model.scene_file import SceneError, find_scene, read_scene
from qes_jax.model.world import build_world

STUDY = """
name = "study"
[[piece]]
name = "desk"
kind = "box"
size = [1.4, 0.7, 0.74]
pos = [1.0, 0.5, 0.0]
yaw_degrees = 90
[[piece]]
name = "seat"
kind = "office_chair"
yaw = -1.5
[[piece]]
name = "shelf"
kind = "shelf.xml"
pos = [0, -1, 0]
"""

SHELF = """
<mujoco>
  <worldbody><body name="whatever" pos="3 3 0"><geom type="box" size=".2 .4 .9" pos="0 0 .9"/></body></worldbody>
</mujoco>
"""

# Degrees, classes, a material, a tilted box, a drawer, a door that is hinged in the world, a geom not to be touched.
ROOM = """
<mujoco>
  <compiler angle="degree"/>
  <asset><material name="red" rgba="1 0 0 1"/></asset>
  <default><geom type="box" size=".1 .2 .3"/><default class="leg"><geom type="capsule" size=".02"/></default></default>
  <worldbody>
    <light pos="0 0 3"/><geom name="floor" type="plane" size="9 9 1"/>
    <body name="desk" pos="1 2 0" euler="0 0 30">
      <geom name="top" material="red" pos="0 0 .7"/><geom class="leg" fromto="0 0 0 0 0 .7"/>
      <geom name="plant" contype="0" conaffinity="0" type="sphere" size=".1" pos="0 0 1.1"/>
      <body name="drawer" pos=".1 0 .5">
        <joint name="pull" type="slide" axis="1 0 0" range="0 .4" limited="true" damping="3"/><geom name="front"/>
      </body>
    </body>
    <body name="ramp" pos="-1 0 .2" euler="0 20 -70"><geom name="slope"/></body>
    <body name="door" pos="0 -2 .9" euler="0 0 90">
      <joint name="hinge" axis="0 0 1" pos="0 .2 0"/><geom name="leaf"/>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_toml_scene_is_what_it_says(tmp_path: Path) -> None:
    written(tmp_path, SHELF, "shelf.xml")
    scene = find_scene(str(written(tmp_path, STUDY, "my.toml")))
    assert scene.name == "study"
    desk, seat, shelf = scene.pieces
    assert (desk.name, desk.kind, desk.size, desk.pos) == ("desk", "box", (1.4, 0.7, 0.74), (1.0, 0.5, 0.0))
    assert desk.yaw == pytest.approx(np.pi / 2)
    assert (seat.kind, seat.pos, seat.yaw) == ("office_chair", (0.0, 0.0, 0.0), -1.5)
    assert (shelf.name, shelf.kind, shelf.pos) == ("shelf", "mjcf", (0, -1, 0))
    world = build_world(pieces=scene.pieces)
    geom = world.plain.geom_bodyid == world.plain.body("shelf").id
    np.testing.assert_allclose(world.plain.geom_size[geom], [[0.2, 0.4, 0.9]])


def test_bodies_of_an_mjcf_file_stand_and_move_as_in_mujoco(tmp_path: Path) -> None:
    path = written(tmp_path, ROOM, "room.xml")
    theirs = mujoco.MjModel.from_xml_path(str(path))
    scene = read_scene(path)
    assert [p.name for p in scene.pieces] == ["desk", "ramp", "door"]
    world = build_world(pieces=scene.pieces)
    ours, layout = world.plain, world.layout
    a, b = mujoco.MjData(theirs), mujoco.MjData(ours)
    a.qpos[:] = [0.3, 0.8]
    b.qpos[:] = layout.home_qpos
    b.qpos[layout.object_qpos] = a.qpos
    mujoco.mj_forward(theirs, a)
    mujoco.mj_forward(ours, b)
    n = theirs.ngeom - 1  # all but the floor, in the file's order, behind the character's
    np.testing.assert_allclose(b.geom_xpos[-n:], a.geom_xpos[1:], atol=1e-5)
    np.testing.assert_allclose(b.geom_xmat[-n:], a.geom_xmat[1:], atol=1e-5)
    np.testing.assert_allclose(ours.geom_size[-n:], theirs.geom_size[1:], atol=1e-6)
    np.testing.assert_array_equal(ours.geom_contype[-n:], [2, 2, 0, 2, 2, 2])
    np.testing.assert_array_equal(ours.geom_conaffinity[-n:], [1, 1, 0, 1, 1, 1])
    np.testing.assert_allclose(ours.geom("desk/top").rgba, [1, 0, 0, 1])
    np.testing.assert_allclose(ours.dof_damping[layout.object_dofs], theirs.dof_damping)
    assert layout.geoms.object.tolist() == [1, 1, 1, 2, 3]


def test_own_furniture_travels_as_text_and_is_shared_like_any(tmp_path: Path) -> None:
    scene = read_scene(written(tmp_path, ROOM, "room.xml"))
    desk = scene.pieces[0]
    fields = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(desk).items()}
    assert make_piece(fields) == desk
    pieces, maps = union([scene, Scene("other", (desk, scene.pieces[2]))])
    assert len(pieces) == 3
    assert maps[1] == {"desk": 0, "door": 2}
    build_world(pieces=pieces)


def test_built_in_scenes_go_by_name() -> None:
    assert find_scene("living_room") is SCENES["living_room"]
    with pytest.raises(KeyError, match=r"unknown scene 'garden'.*living_room.*\.toml"):
        find_scene("garden")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.toml"):
        find_scene("nowhere.toml")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.xml"):
        find_scene("nowhere.xml")


def box(**changes: str) -> str:
    fields = {"name": '"desk"', "kind": '"box"', "size": "[1, 1, 1]"} | changes
    return "[[piece]]\n" + "\n".join(f"{k} = {v}" for k, v in fields.items() if v)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (box(size="[1, 1]"), "piece 'desk': field 'size'"),
        (box(size="[1, 1, -1]"), "piece 'desk': a box needs three positive"),
        (box(size="[1, 1, true]"), "piece 'desk': field 'size'"),
        (box(size="[60, 80, 45]"), "piece 'desk': field 'size' is .* lengths are in metres"),
        (box(pos="[0, 150, 0]"), "piece 'desk': field 'pos' is .* lengths are in metres"),
        (box(size=""), "piece 'desk': a box needs three positive"),
        (box(size=f"[1, 1, 1{'0' * 400}]"), "piece 'desk': field 'size'"),
        (box(pos='"left"'), "piece 'desk': field 'pos'"),
        (box(pos="[nan, 0, 0]"), "piece 'desk': pos .* not finite"),
        (box(yaw="[1]"), "piece 'desk': field 'yaw'"),
        (box(yaw="1", yaw_degrees="2"), "piece 'desk': give yaw"),
        (box(colour='"red"'), "piece 'desk': unknown field 'colour'"),
        (box(mjcf='"<mujoco/>"'), "piece 'desk': unknown field 'mjcf'"),
        (box(kind='"sofa"', size=""), "piece 'desk': unknown kind 'sofa'.*couch"),
        (box(kind='"sofa.xml"', size=""), "piece 'desk': there is no file .*sofa.xml"),
        (box(kind='"room.xml"', size=""), "piece 'desk': .*room.xml has 3 bodies"),
        (box(kind=""), "piece 'desk': field 'kind'"),
        (box() + "\n" + box(name=""), "piece 2: field 'name'"),
        (box() + "\n" + box(), "piece names must be distinct"),
        (box(name='"floor"'), "not 'floor'"),
        ("rooms = 3", "unknown field 'rooms'"),
        ("piece = 3", "field piece"),
        ("[[piece", "Expected"),
    ],
)
def test_bad_toml_is_refused_by_file_and_piece(tmp_path: Path, text: str, message: str) -> None:
    written(tmp_path, ROOM, "room.xml")
    with pytest.raises(SceneError, match=rf"^\S*bad\.toml: .*{message}"):
        read_scene(written(tmp_path, text, "bad.toml"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<body name="ball"><freejoint/><geom size="1"/></body>', "piece 'ball': joint .* neither hinge nor slide"),
        ('<body name="arm"><body><joint type="ball"/><geom size="1"/></body></body>', "piece 'arm': joint"),
        ('<body><geom size="1"/></body>', "body 1 below the world has no name"),
        ('<geom name="wall" type="box" size="1 1 1"/>', "geom 'wall' lies in the world"),
        ('<body name="rug"><geom type="plane" size="1 1 1"/></body>', "piece 'rug': geom 1 is a plane"),
        ('<body name="desk"><geom type="box"/></body>', "size"),
        ('<body name="floor"><geom size="1"/></body>', "not 'floor'"),
        ('<geom type="plane" size="1 1 1"/>', "no body below the world"),
        ("<body", "XML"),
        ('<body name="a"><geom type="box" size="20 30 40"/></body>', "piece 'a': geom .* lengths are in metres"),
        ('<body name="a"/>', "piece 'a': there is no geom"),
        ('<geom name="wall" type="plane" size="1 1 1" euler="0 90 0"/><body name="a"><geom size="1"/></body>',
         "plane 'wall' is not the floor"),
    ],
)
def test_bad_mjcf_is_refused_by_file_and_piece(tmp_path: Path, body: str, message: str) -> None:
    path = written(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>", "bad.xml")
    with pytest.raises(SceneError, match=rf"(?s)^\S*bad\.xml: .*{message}"):
        read_scene(path)


def test_frames_classes_and_what_looks_elsewhere_are_understood(tmp_path: Path) -> None:
    geom = '<geom type="box" size=".1 .1 .1"/>'
    text = f"""<mujoco>
      <asset><material name="red" rgba="1 0 0 1"/></asset><default><geom material="red"/></default>
      <worldbody>
        <replicate count="3" offset="1 0 0"><body name="post">{geom}</body></replicate>
        <frame pos="0 2 0"><body name="a"><camera mode="targetbody" target="post0"/>{geom}</body></frame>
      </worldbody>
    </mujoco>"""
    scene = read_scene(written(tmp_path, text, "room.xml"))
    assert {p.name: p.pos for p in scene.pieces} == {
        "post0": (0, 0, 0), "post1": (1, 0, 0), "post2": (2, 0, 0), "a": (0, 2, 0),
    }  # fmt: skip
    m = build_world(pieces=scene.pieces).plain
    np.testing.assert_allclose(m.geom_rgba[m.geom_bodyid == m.body("a").id], [[1, 0, 0, 1]])


def test_what_a_file_has_beyond_pieces_is_warned_of(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/></body></worldbody>
      <actuator><motor joint="j"/></actuator></mujoco>"""
    with pytest.warns(SceneWarning, match=r"room\.xml: left out.*actuator"):
        read_scene(written(tmp_path, text, "room.xml"))


@pytest.mark.parametrize("name", ["pelvis", "world"])
def test_a_piece_cannot_be_called_like_a_part_of_the_character(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"piece '{name}': a part of the character"):
        build_world(pieces=read_scene(written(tmp_path, box(name=f'"{name}"'), "a.toml")).pieces)
