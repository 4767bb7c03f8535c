"""Floors, roots, units and axes as files have them: found by the body, overruled, refused where none fits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qes_jax.model.scene import Piece
from qes_jax.motion.formats.amass import JOINTS as SMPL
from qes_jax.motion.formats.body import as_recording
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.motion.formats.maps import find_roles
from qes_jax.motion.formats.read import Choices, read_recording
from qes_jax.motion.formats.recording import Recording, RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, in_metres, y_up
from qes_jax.motion.ground import find_floor, grounded
from qes_jax.motion.subject import feet
from tests.motion.gltf_files import Builder
from tests.motion.stepper import stepper
from tests.motion.test_amass import save

UNSHRUNK = (Phase.explicit, Phase.generate)  # a figure is read for each


def raised(motion: SkeletonMotion, *by: float) -> SkeletonMotion:
    pos = motion.pos.copy()
    pos[:, 0] += by
    return replace(motion, pos=pos)


def bvh(folder: Path, motion: SkeletonMotion, unit: float = 0.01) -> Path:
    write_bvh(folder / "a.bvh", motion, unit)
    return folder / "a.bvh"


def gltf(folder: Path, motion: SkeletonMotion) -> Path:
    motion, builder, time = y_up(motion), Builder(), np.arange(len(motion.pos)) / motion.fps
    for j, name in enumerate(motion.joints):
        place, turn = motion.rest_pos[j].tolist(), motion.rest_quat[j, [1, 2, 3, 0]].tolist()
        builder.node(name=name, translation=place, rotation=turn, children=motion.children(j))
    turns = [(j, "rotation", "LINEAR", time, motion.quat[:, j][:, [1, 2, 3, 0]]) for j in range(len(motion.joints))]
    builder.clip("steps", [(0, "translation", "LINEAR", time, motion.pos[:, 0]), *turns])
    return builder.save(folder)


def points(motion: SkeletonMotion) -> Recording:
    return as_recording(motion, find_roles(motion)[0])


def lowest(recording: Recording) -> float:
    return float(np.percentile(feet(recording)[1].min(axis=1), 5))


@pytest.mark.parametrize("floor", [-3.0, -0.3, -0.1, 0.0, 0.2, 0.95, 1.5, 40.0])
@pytest.mark.parametrize("kind", ["bvh", "gltf"])
def test_the_floor_is_where_the_feet_stand(tmp_path: Path, floor: float, kind: str) -> None:
    motion = raised(stepper(), 0, 0, floor)
    if kind == "bvh":
        path = bvh(tmp_path, motion)
    else:
        path = gltf(tmp_path, motion)
    recording = read_recording(path)[1]
    assert abs(lowest(recording)) < 0.05
    assert any("the floor lies" in note for note in recording.notes) == (floor != 0)


def test_a_floor_that_is_told_counts(tmp_path: Path) -> None:
    path = bvh(tmp_path, raised(stepper(), 0, 0, 0.3))
    told = read_recording(path, (), Choices(floor=0.1))[1]
    assert lowest(told) == pytest.approx(0.2, abs=0.05) and "0.10 m above the file's zero, as told" in told.notes[-1]


def test_one_who_jumps_lies_or_crouches_leaves_the_floor_where_it_is() -> None:
    jump = stepper()
    jump.pos[20:35, 0, 2] += 0.4
    lying = stepper()
    lying.pos[:, 0, 2] = 0.12
    lying.quat[:, 0] = [np.sqrt(0.5), 0, -np.sqrt(0.5), 0]
    for motion in (jump, lying):
        assert abs(find_floor(points(motion))) < 0.13


def test_among_furniture_the_floor_is_that_of_the_pieces() -> None:
    box = Piece("box", "box", (0.6, 0.6, 0.4), (0.0, 0.0, 0.0), 0.0)
    on_it = replace(points(raised(stepper(), 0, 0, 0.4)), pieces=(box,))
    assert find_floor(on_it) == 0.0
    low = replace(box, pos=(0.0, 0.0, -0.5))
    recording, floor = grounded(replace(points(raised(stepper(), 0, 0, -0.1)), pieces=(low,)))
    assert floor == -0.5 and recording.pieces[0].pos[2] == 0.0 and lowest(recording) == pytest.approx(0.4, abs=0.05)


def test_a_root_without_positions_stands_on_its_feet(tmp_path: Path) -> None:
    motion, nailed = stepper(), stepper()
    nailed.pos[:, 0] = 0.0
    path = bvh(tmp_path, nailed)
    true, found = points(motion), read_recording(path)[1]
    assert "no positions" in found.notes[-1]
    way = found.point("hips") - true.point("hips")
    assert np.ptp(way[:, 2]) < 0.03 and np.ptp(way[:, 0]) < 0.06 and np.ptp(way[:, 1]) < 0.02
    text = path.read_text().replace("CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 3", 1)
    head, _, rows = text.partition("Frame Time")
    first, *rest = rows.splitlines()
    path.write_text(head + "Frame Time" + "\n".join([first, *(" ".join(row.split()[3:]) for row in rest)]) + "\n")
    bare = read_recording(path)[1]
    np.testing.assert_allclose(bare.points - bare.points[:1, :1], found.points - found.points[:1, :1], atol=1e-4)


def with_offset(path: Path, offset: str) -> Path:
    lines = path.read_text().splitlines()
    lines[3] = f"\tOFFSET {offset}"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_roots_offset_is_added_where_its_feet_then_stand(tmp_path: Path) -> None:
    relative = with_offset(bvh(tmp_path, raised(stepper(), 0, 0, -0.6)), "0 60 0")
    recording = read_recording(relative)[1]
    assert abs(lowest(recording)) < 0.05 and recording.notes[0].startswith("the root's OFFSET is added")
    assert "the floor" not in " ".join(recording.notes)
    above = with_offset(
        bvh(tmp_path, raised(stepper(), 0, 0, -0.35)), "0 60 0"
    )  # with both it floats, without it is sunk
    assert read_recording(above)[1].notes[0].startswith("the root's OFFSET is added")
    absolute = with_offset(bvh(tmp_path, stepper()), "0 92 0")
    recording = read_recording(absolute)[1]
    assert abs(lowest(recording)) < 0.05 and recording.notes[0].startswith("the root's OFFSET is not added")
    told = read_recording(absolute, (), Choices(root_offset="add"))[1]
    assert told.notes[0] == "the root's OFFSET is added to its positions, as told" and abs(lowest(told)) < 0.05


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.0254, 0.001])
def test_gltf_in_any_unit(tmp_path: Path, unit: float) -> None:
    recording = read_recording(gltf(tmp_path, in_metres(stepper(), 1 / unit)))[1]
    assert recording.unit == unit and recording.point("head")[0, 2] == pytest.approx(1.47, abs=0.1)
    assert any("unit is taken" in note for note in recording.notes) == (unit != 1.0)


def test_no_person_is_an_error(tmp_path: Path) -> None:
    path = bvh(tmp_path, stepper())
    with pytest.raises(
        RecordingError, match=r"a\.bvh: the body is 1\d\d m tall by its bones, expected 0.5 to 2.5 m.*--unit"
    ):
        read_recording(path, (), Choices(unit=1.0))
    torn = stepper()
    for side in ("left", "right"):
        torn.pos[:, torn.index(f"{side}_hip"), 2] = -5.0
    with pytest.raises(RecordingError, match=r"a\.bvh: the hips are 5\.\d+ m from the feet of a body of 1\.\d+ m"):
        read_recording(bvh(tmp_path, torn), (), Choices(unit=0.01))


def smpl(frames: int = 30, height: float = 0.945, size: float = 1.0) -> dict[str, np.ndarray]:
    """Someone upright who bends the knees by turns, in AMASS's axes; `height` [m] of the mean body's `trans`."""
    names = [name for name, *_ in SMPL]
    poses = np.zeros((frames, 66))
    turn = np.array([0.5, 0.5, 0.5, 0.5])  # wxyz: the model's Y to the world's Z
    poses[:, :3] = 2 * np.arccos(turn[0]) * turn[1:] / np.linalg.norm(turn[1:])
    time = np.arange(frames) / 30
    for side, phase in (("left", 0.0), ("right", np.pi)):
        bend = 0.6 * np.maximum(0.0, np.sin(4 * time + phase))
        poses[:, 3 * names.index(f"{side}_hip")], poses[:, 3 * names.index(f"{side}_knee")] = -bend, 2 * bend
        poses[:, 3 * names.index(f"{side}_ankle")] = -bend
    pelvis = height * size + 0.03 * (1 - size)
    trans = np.tile([0.0, 0.225, pelvis], (frames, 1)) + np.outer(np.sin(time), [0.01, 0.0, 0.0])
    return {"poses": poses, "trans": trans, "mocap_framerate": np.array(30.0)}


def head_over_feet(recording: Recording) -> float:
    return float(recording.point("head")[0, 2] - recording.points[0, :, 2].min())


def test_amass_with_y_up(tmp_path: Path) -> None:
    arrays = smpl()
    plain = read_recording(save(tmp_path, **arrays))[1]
    arrays["poses"][:, :3] = 0.0
    arrays["trans"] = arrays["trans"][:, [1, 2, 0]] + [0.0, 0.255, 0.0]
    turned = read_recording(save(tmp_path, **arrays))[1]
    assert turned.up == "y" and "Y is up" in turned.notes[0] and plain.notes == () and plain.up == "z"
    assert abs(lowest(turned)) < 0.05 and head_over_feet(turned) == pytest.approx(head_over_feet(plain), abs=0.01)


@pytest.mark.parametrize("unit", [0.01, 0.001])
def test_amass_whose_trans_is_not_in_metres(tmp_path: Path, unit: float) -> None:
    arrays = smpl()
    arrays["trans"][:, 0] = np.linspace(0, 3, len(arrays["trans"]))
    plain = read_recording(save(tmp_path, **arrays))[1]
    arrays["trans"] = arrays["trans"] / unit
    other = read_recording(save(tmp_path, **arrays))[1]
    assert f"units of {unit:g} m" in other.notes[0]
    np.testing.assert_allclose(other.points, plain.points, atol=1e-9)


@pytest.mark.parametrize(("beta", "size"), [(3.0, 1.13), (-3.0, 1.13), (3.0, 0.87), (1.5, 0.935)])
def test_betas_make_a_body_tall_or_short(tmp_path: Path, beta: float, size: float) -> None:
    arrays = smpl(size=size) | {"betas": np.array([beta, *np.zeros(15)]), "gender": np.array("male")}
    plain = read_recording(save(tmp_path, **smpl()))[1]
    recording = read_recording(save(tmp_path, **arrays))[1]
    assert head_over_feet(recording) / head_over_feet(plain) == pytest.approx(size, abs=0.01)
    assert "betas: the body is taken to be" in recording.notes[0] and "by where its feet stand" in recording.notes[0]


def test_betas_whose_feet_tell_nothing_go_by_gender(tmp_path: Path) -> None:
    arrays = smpl(height=2.0) | {"betas": np.array([3.0])}
    for gender, said in (("male", "1.49 m tall"), (b"female", "1.95 m tall"), ("neutral", "the mean body is taken")):
        recording = read_recording(save(tmp_path, **arrays, gender=np.array(gender)))[1]
        assert said in recording.notes[0]


def test_fields_of_amass_that_are_missing_are_named(tmp_path: Path) -> None:
    arrays = smpl()
    arrays.pop("trans")
    with pytest.raises(RecordingError, match=r"field trans is missing.*It holds mocap_framerate, poses"):
        read_recording(save(tmp_path, **arrays))


@settings(max_examples=25, deadline=None, phases=UNSHRUNK, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(-20, 20), st.sampled_from([1.0, 0.01]), st.floats(0.8, 1.25), st.integers(4, 60))
def test_any_floor_and_unit_come_out_alike(tmp_path: Path, floor: float, unit: float, size: float, frames: int) -> None:
    motion = in_metres(stepper(frames), size)
    recording = read_recording(bvh(tmp_path, raised(motion, 0, 0, floor), unit))[1]
    height = head_over_feet(recording)
    assert abs(lowest(recording)) < 0.08 and 0.9 < height < 2.3
