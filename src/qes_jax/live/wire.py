"""What goes over the socket, byte by byte: a user's poses in, the bodies' triangles and poses out. See docs/live.md."""

import json
import math
import struct
from dataclasses import dataclass

import numpy as np
import trimesh

from qes_jax.evaluate.meshes import body_mesh
from qes_jax.model.world import World

VERSION = 1
TRACKING, BODIES, POSES = 1, 2, 3  # kinds of binary message
TRACKING_FORMAT = struct.Struct("<BBBBIId21f")  # kind, version, tracked, visible, buttons, seq, t, 3 x (xyz, xyzw)
POSES_FORMAT = struct.Struct("<BBBBIdfI")  # kind, version, flags, 0, tick, t, error, touching
FAR = 20.0  # [m] from the device's origin, and in height, where nobody stands
RECENTRED = 1 << 31  # the button bit that says that the device has just moved its origin
POINTS = ("headset", "left controller", "right controller")


class WireError(ValueError):
    """A message that is none of ours; the text says what is wrong with it."""


@dataclass(frozen=True)
class Sample:
    """Headset, left and right controller at one moment, in the device's space turned to our axes (X ahead, Z up)."""

    seq: int
    t: float  # [s] the device's clock
    visible: bool  # the headset is worn and shows our page
    buttons: int  # bits
    tracked: np.ndarray  # (3,) bool
    pos: np.ndarray  # (3, 3) [m]
    quat: np.ndarray  # (3, 4) wxyz


def read_sample(message: bytes) -> Sample:
    """A tracking message. A point whose numbers make no pose counts as not tracked. Raises WireError."""
    if len(message) != TRACKING_FORMAT.size:
        raise WireError(f"a message of {len(message)} bytes: expected {TRACKING_FORMAT.size}")
    kind, version, tracked, visible, buttons, seq, t, *numbers = TRACKING_FORMAT.unpack(message)
    if (kind, version) != (TRACKING, VERSION):
        raise WireError(f"kind {kind} of version {version}: expected {TRACKING} of version {VERSION}")
    if not math.isfinite(t):
        raise WireError(f"time is {t}")
    poses = np.array(numbers).reshape(3, 7)
    pos, quat = from_openxr(poses[:, :3], poses[:, 3:])
    with np.errstate(all="ignore"):
        norm, reach = np.linalg.norm(quat, axis=1), np.abs(pos).max(axis=1)
        good = (np.abs(norm - 1) < 0.1) & (reach < FAR)
    bits = np.array([tracked >> i & 1 for i in range(3)], bool) & good
    quat = np.where(good[:, None], quat / np.where(good, norm, 1.0)[:, None], IDLE)
    pos = np.where(good[:, None], pos, 0.0)
    return Sample(seq, t, bool(visible), buttons, bits, pos, quat)


IDLE = np.array([1.0, 0.0, 0.0, 0.0])


def write_sample(sample: Sample) -> bytes:
    """The tracking message of a sample."""
    pos, xyzw = to_openxr(sample.pos, sample.quat)
    bits = sum(1 << i for i in range(3) if sample.tracked[i])
    numbers = np.concatenate([pos, xyzw], axis=1).ravel()
    head = (TRACKING, VERSION, bits, int(sample.visible), sample.buttons, sample.seq, sample.t)
    return TRACKING_FORMAT.pack(*head, *numbers)


def from_openxr(pos: np.ndarray, xyzw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses of OpenXR and WebXR (X right, Y up, Z backwards) in our axes, (N, 3) and wxyz (N, 4).

    A grip pose has its axes such that the turned ones are our hand's: X to the thumb, Z up the forearm.
    """
    return pos[:, [2, 0, 1]] * [-1, -1, 1], xyzw[:, [3, 2, 0, 1]] * [1, -1, -1, 1]


def to_openxr(pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of `from_openxr`: positions (N, 3), quaternions xyzw (N, 4)."""
    return pos[:, [1, 2, 0]] * [-1, 1, -1], quat[:, [2, 3, 1, 0]] * [-1, 1, -1, 1]


def write_bodies(world: World) -> bytes:
    """All bodies' triangles: an 8-byte head, JSON that says how many of what, then the arrays, little endian."""
    meshes = [body_mesh(world.plain, body) for body in range(1, world.plain.nbody)]
    tables = [_arrays(mesh) for mesh in meshes]
    names = [world.plain.body(body).name for body in range(1, world.plain.nbody)]
    rows = [
        {"name": n, "object": int(o), "vertices": len(v), "faces": len(f)}
        for n, o, (v, _, f) in zip(names, world.layout.body_object, tables, strict=True)
    ]
    text = json.dumps({"bodies": rows}).encode()
    text += b" " * (-len(text) % 4)
    arrays = b"".join(a.tobytes() for table in tables for a in table)
    return struct.pack("<BBHI", BODIES, VERSION, 0, len(text)) + text + arrays


def _arrays(mesh: trimesh.Trimesh | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3) float32 [m], colours (V, 4) uint8, faces (F, 3) uint32."""
    if mesh is None:
        return np.zeros((0, 3), np.float32), np.zeros((0, 4), np.uint8), np.zeros((0, 3), np.uint32)
    colors = np.asarray(mesh.visual.vertex_colors, np.uint8)
    return np.asarray(mesh.vertices, np.float32), colors, np.asarray(mesh.faces, np.uint32)


def write_poses(
    tick: int, t: float, flags: int, error: float, touching: int, pos: np.ndarray, quat: np.ndarray
) -> bytes:
    """The bodies' poses, then the user's three points: pos (K+3, 3) [m] and quat (K+3, 4) wxyz in the scene."""
    head = POSES_FORMAT.pack(POSES, VERSION, flags, 0, tick & 0xFFFFFFFF, t, error, touching)
    return head + np.concatenate([pos, quat], axis=1).astype("<f4").tobytes()
