"""`holosoma_climb` recordings: joint points of a person climbing onto boxes (`.npy`), and the boxes (`.obj`).

The source does not state the frame rate. It is 120 Hz, from what the recordings themselves show:

- Gravity. In the step down from 0.47 m in seq_2 (frames 2135 to 2155) the leg above gives way and the body's centre
  of mass (segments by de Leva 1996) accelerates downwards by up to 4.3e-4 m / frame^2. No one falls faster than 9.81
  m/s^2, so the rate is at most 151 Hz; at 120 Hz the fall is at 0.63 g, as for a leg that still carries a third.
- Cadence. Free steps on the floor swing for 55 to 59 frames (seq_2, frames 2147 to 2335): 0.46 to 0.49 s at 120 Hz,
  where people swing for 0.4 to 0.5 s; at 60 Hz they would take a second.
- Of the usual rates of optical motion capture (60, 100, 120, 240 Hz), 100 and 120 remain, and the data's publisher
  keeps every fourth frame, which makes 30 Hz of 120.
"""

from pathlib import Path

import numpy as np

from qes_jax.motion.formats.arrays import load_array
from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.recording import Anchor, Recording, RecordingError

FPS = 120.0  # [Hz]
LICENCE = "Apache-2.0"


def _fingers(side: str) -> tuple[str, ...]:
    return tuple(f"{side}Hand{f}{i}" for f in ("Thumb", "Index", "Middle", "Ring", "Pinky") for i in (1, 2, 3))


def _arm(side: str) -> tuple[str, ...]:
    return (f"{side}Shoulder", f"{side}Arm", f"{side}ForeArm", f"{side}Hand", *_fingers(side))


def _leg(side: str) -> tuple[str, ...]:
    return (f"{side}UpLeg", f"{side}Leg", f"{side}Foot", f"{side}ToeBase")


JOINTS = (
    *("Hips", "Spine", "Spine1", "Neck", "Head"), *_arm("Left"), *_arm("Right"), *_leg("Left"), *_leg("Right"),
    *("LeftFootMod", "RightFootMod"),
)  # fmt: skip


def _anchors() -> dict[str, Anchor]:
    """Where each used joint sits on the character. Shoulders weigh less: collar bones move them, and ours are stiff."""
    anchors = {
        "Hips": Anchor("pelvis"),
        "Spine": Anchor("pelvis", (-0.01, 0.0, 0.085), 0.4),
        "Spine1": Anchor("thorax", (-0.01, 0.0, 0.08), 0.4),
        "Neck": Anchor("thorax", (-0.005, 0.0, 0.28), 0.7),
        "Head": Anchor("head", (0.01, 0.0, 0.13)),
    }
    for side in ("Left", "Right"):
        link = side.lower()
        anchors |= {
            f"{side}Arm": Anchor(f"{link}_upper_arm", weight=0.5),
            f"{side}ForeArm": Anchor(f"{link}_forearm"),
            f"{side}Hand": Anchor(f"{link}_hand"),
            f"{side}HandIndex1": Anchor(f"{link}_hand", (0.03, 0.0, -0.085), 0.3),
            f"{side}HandMiddle1": Anchor(f"{link}_hand", (0.0, 0.0, -0.085), 0.5),
            f"{side}HandPinky1": Anchor(f"{link}_hand", (-0.04, 0.0, -0.075), 0.3),
            f"{side}UpLeg": Anchor(f"{link}_thigh"),
            f"{side}Leg": Anchor(f"{link}_shin", weight=0.7),
            f"{side}Foot": Anchor(f"{link}_foot"),
            f"{side}ToeBase": Anchor(f"{link}_toes"),
        }
    return anchors


LIMB_BONES = (("UpLeg", "Leg"), ("Leg", "Foot"), ("Arm", "ForeArm"), ("ForeArm", "Hand"))
BONES = (("Hips", "Neck"), *((f"{side}{a}", f"{side}{b}") for side in ("Left", "Right") for a, b in LIMB_BONES))


def is_holosoma(path: str | Path) -> bool:
    """Whether the file looks like one of these, by its name's end."""
    return Path(path).suffix == ".npy"


def read_holosoma(path: str | Path, objects: tuple[str | Path, ...] = (), fps: float = FPS) -> Recording:
    """Joint points (T, 53, 3) of `path` and the boxes of the OBJ files `objects`. Raises RecordingError."""
    path = Path(path)
    points = load_array(path)
    if points.ndim != 3 or points.shape[1:] != (len(JOINTS), 3) or not np.issubdtype(points.dtype, np.floating):
        raise RecordingError(
            f"{path}: array of {points.dtype}, shape {points.shape}; expected floats, shape (frames, {len(JOINTS)}, 3);"
            " other points need a joint list"
        )
    anchors = _anchors()
    used = points[:, [JOINTS.index(name) for name in anchors]].astype(np.float64)
    pieces = tuple(read_box(o) for o in objects)
    return Recording(str(path.name), LICENCE, fps, tuple(anchors), tuple(anchors.values()), used, BONES, pieces)
