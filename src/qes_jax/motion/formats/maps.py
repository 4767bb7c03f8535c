"""Which joint of a skeleton is which part of a body: by names that are known, else by the shape of the tree.

Roles are those of `ROLES`. Limbs are found by the families of names below, on both sides and each joint below the one
before; the trunk follows from them: hips where the legs meet, chest where the arms meet, neck and head above it. What
neither names nor shape tell, a small TOML file does: `role = "joint"`.
"""

import tomllib
from pathlib import Path

import numpy as np

from qes_jax.files import replacing
from qes_jax.motion.formats import structure
from qes_jax.motion.formats.names import parts
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion
from qes_jax.motion.formats.text import read_text

Roles = dict[str, str]  # role -> joint
SIDES = ("left", "right")
NEEDED = (
    *("hips", "head"),
    *(f"{side}_{part}" for side in SIDES for part in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
)
OPTIONAL = (
    *("spine", "chest", "neck"),
    *(f"{side}_{part}" for side in SIDES for part in ("ball", "hand", "index", "pinky")),
)
ROLES = NEEDED + OPTIONAL
# Shoulder, elbow, wrist: of KayKit; CMU's ASF; HumanIK, LAFAN1, Mixamo; iClone, Biped, Rigify, Xsens; Unreal, Unity;
# SMPL, older BVH; DAZ; VRM spells as Unity. The wrist of CMU's ASF is where its forearm turns, not where it ends.
ARMS = (
    ("upperarm", "lowerarm", "wrist"),
    ("humerus", "radius", "hand"),
    ("arm", "forearm", "hand"),
    ("upperarm", "forearm", "hand"),
    ("upperarm", "lowerarm", "hand"),
    ("shoulder", "elbow", "wrist"),
    ("shldr", "forearm", "hand"),
    ("uparm", "loarm", "hand"),
    ("shoulder", "elbow", "hand"),
)
LEGS = (
    ("femur", "tibia", "foot"),
    ("upleg", "leg", "foot"),
    ("thigh", "calf", "foot"),
    ("thigh", "shin", "foot"),
    ("upperleg", "lowerleg", "foot"),
    ("hip", "knee", "ankle"),
    ("thigh", "leg", "foot"),
    ("uppleg", "loleg", "foot"),
)
BALLS = ("toebase", "toes", "toe", "toe0", "ball", "foot", "toe1", "ballofthefoot")
FINGERS = {"index": ("index", "indexfinger", "ffinger"), "pinky": ("pinky", "little", "pinkie", "littlefinger"),
           "hand": ("middle", "mid", "middlefinger", "fingers", "fingerbase")}  # fmt: skip


def find_roles(motion: SkeletonMotion) -> tuple[Roles, str]:
    """What was found, and how: "names", "structure" or "" where something needed is missing."""
    by_name = named(motion)
    if complete(by_name):
        return by_name, "names"
    by_shape = structure.roles(motion)
    if complete(by_shape):
        return by_shape, "structure"
    return by_name, ""


def complete(roles: Roles) -> bool:
    """Whether all needed roles are there."""
    return all(role in roles for role in NEEDED)


def named(motion: SkeletonMotion) -> Roles:
    """Roles told by names, not necessarily all."""
    known: dict[tuple[str, str], int] = {}
    for joint, part in enumerate(parts(motion.joints)):
        known.setdefault(part, joint)
    arms = _limb(motion, known, ARMS, ("shoulder", "elbow", "wrist"))
    limbs = arms | _limb(motion, known, LEGS, ("hip", "knee", "ankle"))
    found = limbs | _trunk(motion, known, limbs)
    for side in SIDES:
        if f"{side}_ankle" in limbs:
            found |= _first_below(motion, known, limbs[f"{side}_ankle"], side, {"ball": BALLS})
        if f"{side}_wrist" in limbs:
            found |= _first_below(motion, known, limbs[f"{side}_wrist"], side, FINGERS)
    return {role: motion.joints[joint] for role, joint in found.items()}


def _limb(
    motion: SkeletonMotion, known: dict[tuple[str, str], int], families: tuple[tuple[str, ...], ...],
    roles: tuple[str, ...],
) -> dict[str, int]:  # fmt: skip
    """Joints of the first family that both sides have, each below the one before."""
    for family in families:
        pairs = list(zip(roles, family, strict=True))
        found = {f"{side}_{role}": known.get((side, core), -1) for side in SIDES for role, core in pairs}
        chains = [[found[f"{side}_{role}"] for role in roles] for side in SIDES]
        if all(c[0] >= 0 and _below(motion, c[1], c[0]) and _below(motion, c[2], c[1]) for c in chains):
            return found
    return {}


def _below(motion: SkeletonMotion, joint: int, above: int) -> bool:
    return joint != above and above in structure.ancestry(motion, joint)


def _trunk(motion: SkeletonMotion, known: dict[tuple[str, str], int], limbs: dict[str, int]) -> dict[str, int]:
    """Hips, spine, chest, neck and head, where the limbs are known."""
    if len(limbs) < 12:
        return {}
    hips = structure.meeting(motion, limbs["left_hip"], limbs["right_hip"])
    chest = structure.meeting(motion, limbs["left_shoulder"], limbs["right_shoulder"])
    found = {"hips": hips} if hips >= 0 else {}
    heads = [j for (side, core), j in known.items() if core == "head" and not side]
    necks = [j for (side, core), j in known.items() if core.startswith(("neck", "lowerneck")) and not side]
    if heads:
        found["head"] = heads[0]
        necks = [known[("", "neck")]] if ("", "neck") in known else sorted(necks)
        neck = next((j for j in necks if _below(motion, heads[0], j)), -1)
        found |= {"neck": neck} if neck >= 0 else {}
    elif necks:  # DeepMimic's neck carries the head
        found["head"] = necks[0]
    return found | structure.back(motion, hips, chest)


def _first_below(
    motion: SkeletonMotion, known: dict[tuple[str, str], int], above: int, side: str, wanted: dict[str, tuple[str, ...]]
) -> dict[str, int]:
    """For each role the first joint below `above` whose core name is one of those wanted, digits at its end apart."""
    found = {}
    for role, cores in wanted.items():
        fits = [
            joint for (where, core), joint in known.items()
            if where == side and _below(motion, joint, above)
            and (core in cores or core.rstrip("0123456789").removeprefix("hand") in cores)
        ]  # fmt: skip
        if fits:
            found[f"{side}_{role}"] = min(fits)
    return found


def read_roles(path: str | Path) -> Roles:
    """A map file: `role = "joint"`, empty for none. Raises RecordingError."""
    path = Path(path)
    try:
        content = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise RecordingError(f"{path}: not readable TOML: {error}") from None
    for role, joint in content.items():
        if role not in ROLES or not isinstance(joint, str):
            known = ", ".join(ROLES)
            raise RecordingError(f"{path}: {role} = {joint!r}: expected the name of a joint, for one of {known}")
    return {role: joint for role, joint in content.items() if joint}


def check_roles(motion: SkeletonMotion, roles: Roles, where: str) -> None:
    """Raise RecordingError unless every role's joint exists and none needed is missing."""
    for role, joint in roles.items():
        if joint not in motion.joints:
            raise RecordingError(f"{where}: {role} = {joint!r}: {motion.source} has no such joint")
    missing = [role for role in NEEDED if role not in roles]
    if missing:
        raise RecordingError(f"{where}: no joint for {', '.join(missing)}")


def write_roles(path: str | Path, motion: SkeletonMotion, roles: Roles) -> None:
    """A map file to fill: what is known, the rest empty, and the tree of joints as comments."""
    depth = np.array([len(structure.ancestry(motion, j)) for j in range(len(motion.joints))])
    lines = [f"# Which joints of {motion.source} are which parts of the body. These are needed:"]
    for role in ROLES:
        lines += ["", "# These are not:"] if role == OPTIONAL[0] else []
        lines.append(f'{role} = "{roles.get(role, "")}"')
    lines += ["", "# Its joints:", *(f"# {'  ' * d}{name}" for d, name in zip(depth, motion.joints, strict=True))]
    with replacing(Path(path)) as aside:
        aside.write_text("\n".join(lines) + "\n")
