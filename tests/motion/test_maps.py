"""Which joint is which part of a body: by names of many conventions, by shape alone, by a map file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qes_jax.motion.formats.asf_amc import read_amc
from qes_jax.motion.formats.body import as_recording
from qes_jax.motion.formats.bvh import read_bvh
from qes_jax.motion.formats.guess import guess_unit, guess_up, leg_height, settle
from qes_jax.motion.formats.maps import NEEDED, check_roles, find_roles, named, read_roles, write_roles
from qes_jax.motion.formats.names import parts
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, in_metres, repeated, resampled, y_up, z_up
from qes_jax.motion.proportions import proportioned

# Part, the part above it, where it is from there [m] (X ahead, Y left, Z up): a person of about 1.75 m in an A-pose.
TRUNK = (
    ("hips", None, (0, 0, 0.96)), ("spine", "hips", (0, 0, 0.12)), ("chest", "spine", (0, 0, 0.2)),
    ("neck", "chest", (0, 0, 0.17)), ("head", "neck", (0.01, 0, 0.09)), ("head_end", "head", (0, 0, 0.17)),
)  # fmt: skip
LIMBS = (
    ("collar", "chest", (0, 0.03, 0.14)), ("shoulder", "collar", (0, 0.15, 0.0)),
    ("elbow", "shoulder", (0, 0.1, -0.28)), ("wrist", "elbow", (0.02, 0.08, -0.25)),
    ("hand", "wrist", (0.01, 0.02, -0.08)),
    ("hip", "hips", (0, 0.09, -0.02)), ("knee", "hip", (0, 0, -0.42)), ("ankle", "knee", (-0.01, 0, -0.42)),
    ("ball", "ankle", (0.13, 0, -0.06)), ("ball_end", "ball", (0.06, 0, 0)),
)  # fmt: skip
TREE = (
    *TRUNK,
    *((f"left_{n}", p if p in ("hips", "chest") else f"left_{p}", o) for n, p, o in LIMBS),
    *((f"right_{n}", p if p in ("hips", "chest") else f"right_{p}", (o[0], -o[1], o[2])) for n, p, o in LIMBS),
)


def person(names: dict[str, str] | None = None, frames: int = 5) -> SkeletonMotion:
    """The person standing still, its joints called by `names` where those have them, else left out if a leaf."""
    parts = [n for n, *_ in TREE]
    joints = tuple((names or {}).get(n, f"unnamed {i}") for i, n in enumerate(parts))
    place = np.array([o for *_, o in TREE], float)
    parents = tuple(-1 if p is None else parts.index(p) for _, p, _ in TREE)
    unit = np.tile([1.0, 0.0, 0.0, 0.0], (len(joints), 1))
    pos, quat = np.tile(place, (frames, 1, 1)), np.tile(unit, (frames, 1, 1))
    return SkeletonMotion("person", "none", 30.0, joints, parents, place, unit, pos, quat)


def called(trunk: str, left: str, right: str, limbs: str) -> dict[str, str]:
    """Names from patterns: trunk words for hips, spine, chest, neck, head; limb words put into left and right."""
    order = ("collar", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "ball")
    words = dict(zip(order, limbs.split(), strict=True))
    patterns = (("left", left), ("right", right))
    sides = {f"{side}_{part}": p.format(word) for side, p in patterns for part, word in words.items()}
    return dict(zip(("hips", "spine", "chest", "neck", "head"), trunk.split(), strict=True)) | sides


CONVENTIONS = {
    "mixamo": called(
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine2 mixamorig:Neck mixamorig:Head", "mixamorig:Left{}",
        "mixamorig:Right{}", "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase",
    ),
    "lafan1": called(
        "Hips Spine Spine2 Neck Head", "Left{}", "Right{}", "Shoulder Arm ForeArm Hand UpLeg Leg Foot Toe"
    ),
    "humanik": called(
        "Character1_Hips Character1_Spine Character1_Spine1 Character1_Neck Character1_Head", "Character1_Left{}",
        "Character1_Right{}", "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase",
    ),
    "cmu": called(
        "root lowerback thorax lowerneck head", "l{}", "r{}", "clavicle humerus radius hand femur tibia foot toes"
    ),
    "smpl": called("Pelvis Spine1 Spine3 Neck Head", "L_{}", "R_{}", "Collar Shoulder Elbow Wrist Hip Knee Ankle Foot"),
    "amass": called(
        "pelvis spine1 spine3 neck head", "left_{}", "right_{}", "collar shoulder elbow wrist hip knee ankle foot"
    ),
    "iclone": called(
        "CC_Base_Hip CC_Base_Waist CC_Base_Spine02 CC_Base_NeckTwist01 CC_Base_Head", "CC_Base_L_{}", "CC_Base_R_{}",
        "Clavicle Upperarm Forearm Hand Thigh Calf Foot ToeBase",
    ),
    "biped": {
        k: v.replace("_", " ")
        for k, v in called(
            "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Neck Bip01_Head", "Bip01_L_{}", "Bip01_R_{}",
            "Clavicle UpperArm Forearm Hand Thigh Calf Foot Toe0",
        ).items()
    },
    "unreal": called(
        "pelvis spine_01 spine_03 neck_01 head", "{}_l", "{}_r",
        "clavicle upperarm lowerarm hand thigh calf foot ball",
    ),
    "unity": called(
        "Hips Spine Chest Neck Head", "Left{}", "Right{}",
        "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes",
    ),
    "kaykit": called(
        "hips spine chest neck head", "{}.l", "{}.r", "collar upperarm lowerarm wrist upperleg lowerleg foot toes"
    ),
    "rigify": called(
        "DEF-hips DEF-spine.001 DEF-spine.003 DEF-neck DEF-head", "DEF-{}.L", "DEF-{}.R",
        "shoulder upper_arm forearm hand thigh shin foot toe",
    ),
    "xsens": called(
        "Pelvis L5 T8 Neck Head", "Left{}", "Right{}", "Shoulder UpperArm ForeArm Hand UpperLeg LowerLeg Foot Toe"
    ),
    "daz": called("hip abdomen chest neck head", "l{}", "r{}", "Collar Shldr ForeArm Hand Thigh Shin Foot Toe"),
    "vrm": called(
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Neck J_Bip_C_Head", "J_Bip_L_{}", "J_Bip_R_{}",
        "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot ToeBase",
    ),
}  # fmt: skip
PARTS = {*NEEDED, "spine", "chest", "left_ball", "right_ball"}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_known_names(convention: str) -> None:
    names = CONVENTIONS[convention]
    found = named(person(names))
    assert {part: found.get(part) for part in PARTS} == {part: names[part] for part in PARTS}


@pytest.mark.parametrize("turn", ["x", "y", "z"])
def test_without_names_by_shape(turn: str) -> None:
    parts, motion = [n for n, *_ in TREE], z_up(person(), turn)
    found, how = find_roles(motion)
    places = {role: parts[motion.index(joint)] for role, joint in found.items()}
    assert how == "structure" and all(places[role] == role for role in (*NEEDED, "chest", "left_ball", "right_hand"))


def test_real_skeletons_alike_by_names_and_by_shape(recordings: Path) -> None:
    for motion in (read_bvh(recordings / "cmu" / "131_01.bvh"), read_amc(recordings / "cmu" / "02_01.amc")):
        known, how = find_roles(motion)
        bare = replace(motion, joints=tuple(f"unnamed {j}" for j in range(len(motion.joints))))
        shape, by = find_roles(bare)
        assert (how, by) == ("names", "structure")
        for part in ("hips", *(f"{side}_{p}" for side in ("left", "right") for p in ("hip", "knee", "ankle", "elbow"))):
            assert bare.index(shape[part]) == motion.index(known[part]), part


def test_sides_and_cores() -> None:
    names = ("lfemur", "rfemur", "lowerback", "LHipJoint", "RHipJoint", "thigh.L", "CalfTwist01_l", "root")
    assert parts(names) == [
        ("left", "femur"), ("right", "femur"), ("", "lowerback"), ("left", "hipjoint"), ("right", "hipjoint"),
        ("left", "thigh"), ("left", "calftwist01"), ("", "root"),
    ]  # fmt: skip


def test_a_map_file(tmp_path: Path) -> None:
    motion, path = person(CONVENTIONS["unity"]), tmp_path / "a.toml"
    roles = named(motion)
    write_roles(path, motion, {k: v for k, v in roles.items() if k != "left_knee"})
    assert 'left_knee = ""' in path.read_text() and "#     LeftLowerLeg" in path.read_text()
    with pytest.raises(RecordingError, match="no joint for left_knee"):
        check_roles(motion, read_roles(path), str(path))
    path.write_text(path.read_text().replace('left_knee = ""', 'left_knee = "LeftLowerLeg"'))
    assert read_roles(path) == roles
    check_roles(motion, roles, str(path))
    with pytest.raises(RecordingError, match="person has no such joint"):
        check_roles(motion, roles | {"neck": "nowhere"}, str(path))
    for text, message in (("hips = 3", "hips = 3"), ("tail = 'a'", "tail"), ("hips = ", "not readable TOML")):
        path.write_text(text)
        with pytest.raises(RecordingError, match=message):
            read_roles(path)


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.0254, 0.0254 / 0.45, 0.001])
@pytest.mark.parametrize("up", ["y", "z"])
def test_unit_and_axis_are_guessed(unit: float, up: str) -> None:
    truth = person(CONVENTIONS["unity"])
    file = in_metres(y_up(truth) if up == "y" else truth, 1 / unit)
    assert guess_up(file, named(file)) == up
    motion = settle(file)
    assert np.isclose(motion.unit, unit) and motion.up == up
    assert np.isclose(leg_height(motion, named(motion)), 1.72, atol=0.03)
    assert guess_unit(motion, {}) == 1.0  # without any names, by how far it reaches upwards


def test_the_face_looks_ahead_and_a_foot_has_a_side() -> None:
    motion = person(CONVENTIONS["mixamo"])
    recording = as_recording(motion, named(motion))
    assert np.allclose(recording.point("face") - recording.point("head"), [0.0979, 0, 0], atol=2e-3)
    assert np.allclose(recording.point("left_foot_edge") - recording.point("left_ankle"), [0, 0.0783, 0], atol=2e-3)


def test_where_the_rest_pose_tells_nothing_the_motion_does() -> None:
    motion = person(CONVENTIONS["mixamo"])
    tilt = np.array([np.cos(0.8), 0.0, np.sin(0.8), 0.0])
    lying = replace(motion, rest_quat=np.concatenate([[tilt], motion.rest_quat[1:]]))
    recording = as_recording(lying, named(motion))
    assert np.allclose(recording.point("face") - recording.point("head"), [0.0979, 0, 0], atol=2e-3)
    assert np.allclose(recording.point("right_foot_edge") - recording.point("right_ankle"), [0, -0.0783, 0], atol=2e-3)
    assert "left_thumb" not in recording.names


def test_a_stylised_figure_gets_our_proportions() -> None:
    names = CONVENTIONS["kaykit"]
    motion = person(names)
    assert proportioned(motion, named(motion)) == (motion, False)
    wide = np.array([2.5 if "hip" in n or "shoulder" in n or "spine" in n else 1.0 for n, *_ in TREE])[:, None]
    wide[0] = 1.0
    cartoon = replace(motion, rest_pos=motion.rest_pos * wide, pos=motion.pos * wide)
    back, changed = proportioned(cartoon, named(motion))
    apart = as_recording(back, named(motion)).points - as_recording(motion, named(motion)).points
    assert changed and np.linalg.norm(apart, axis=-1).max() < 0.12


@pytest.mark.parametrize(("length", "rebuilt"), [(1.2, False), (1 / 1.2, False), (1.5, True), (1 / 1.5, True)])
def test_arms_of_another_size_get_our_proportions(length: float, rebuilt: bool) -> None:
    motion = person(CONVENTIONS["mixamo"])
    roles = named(motion)
    arms = {roles[f"{side}_{joint}"] for side in ("left", "right") for joint in ("elbow", "wrist")}
    scale = np.array([length if name in arms else 1.0 for name in motion.joints])[:, None]
    changed = replace(motion, rest_pos=motion.rest_pos * scale, pos=motion.pos * scale)
    assert proportioned(changed, roles)[1] == rebuilt


def test_slerp_and_cycles() -> None:
    motion = person(frames=3)
    angles = np.array([0.0, 0.6, 1.0])
    quat = motion.quat.copy()
    quat[:, 0, 0], quat[:, 0, 3] = np.cos(angles / 2), np.sin(angles / 2)
    pos = motion.pos.copy()
    pos[:, 0, 0] = [0.0, 0.5, 1.0]
    motion = replace(motion, quat=quat, pos=pos, cyclic=True)
    between = resampled(motion, 60.0)
    assert np.allclose(2 * np.arctan2(between.quat[:, 0, 3], between.quat[:, 0, 0]), [0, 0.3, 0.6, 0.8, 1.0])
    twice = repeated(motion, 2)
    assert np.allclose(twice.pos[-1, 0, :2], [1 + np.cos(1), np.sin(1)])  # on from (1, 0), heading 1 rad to the left
    assert np.allclose(2 * np.arctan2(twice.quat[-1, 0, 3], twice.quat[-1, 0, 0]), 2.0) and len(twice.quat) == 5
    with pytest.raises(RecordingError, match="not cyclic"):
        repeated(replace(motion, cyclic=False), 2)


def test_a_figure_whose_legs_have_no_length_is_refused() -> None:
    names = ["root", *NEEDED]
    still = np.zeros((4, len(names), 3))
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (4, len(names), 1))
    parents = (-1, *[0] * len(NEEDED))
    motion = SkeletonMotion("a.glb", "none", 30.0, tuple(names), parents, still[0], quat[0], still, quat)
    with pytest.raises(RecordingError, match=r"a\.glb: its legs have no length"):
        proportioned(motion, {role: role for role in NEEDED})
