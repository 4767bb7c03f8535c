"""A session on disk: all that the body was told, tick by tick, and what it did; it replays to the bit."""

import dataclasses
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from qes_jax.evaluate.stream import Follower, Pose
from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.live.room import Room, assign
from qes_jax.model.scene import Scene, make_piece
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import FPS, Clip
from qes_jax.motion.library import coordinates

VERSION = 1
RESET, STEP = 0, 1
LONGEST = 30 * 60 * 36  # [frames] after which the oldest stretch is forgotten
ARRAYS = ("op", "pos", "quat", "qpos", "placement", "since")


@dataclass(frozen=True)
class Session:
    """N ticks. `op` says which were resets; `since` is the first tick of the stretch that was asked for."""

    policy: str
    scene: Scene
    height: float
    op: np.ndarray  # (N,) uint8
    pos: np.ndarray  # (N, 3, 3) the user's, as the body was told
    quat: np.ndarray  # (N, 3, 4)
    qpos: np.ndarray  # (N, nq) of the body afterwards
    placement: np.ndarray  # (N, O-1, 7)
    since: np.ndarray  # ()


class Recorder:
    """Keeps the ticks since the body last stood up from nothing, so that a stretch can be replayed from there."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._rows: list[tuple] = []
        self.since: int | None = None  # the row where the stretch asked for begins; None: nobody asked

    def add(self, op: int, pos: np.ndarray, quat: np.ndarray, pose: Pose) -> None:
        """One tick."""
        if (op == RESET and self.since is None) or len(self._rows) >= LONGEST:
            self._rows, self.since = [], None if self.since is None else 0
        row = (np.uint8(op), np.float32(pos), np.float32(quat), pose.qpos, self.room.follower.placement)
        self._rows.append(row)

    def start(self) -> None:
        """What is asked for begins now."""
        self.since = len(self._rows)

    @property
    def seconds(self) -> float:
        """Of the stretch asked for, 0 if none."""
        return 0.0 if self.since is None else (len(self._rows) - self.since) / FPS

    def stop(self) -> Session:
        """The session since the last reset before the stretch. Raises ValueError for less than two frames."""
        since, rows = self.since, self._rows
        self.since = None
        if since is None or len(rows) - since < 2:
            raise ValueError("nothing was recorded: the body has to be there for two frames")
        columns = [np.stack(c) for c in zip(*rows, strict=True)]
        room = self.room
        return Session(room.policy, room.scene, room.world.character.height, *columns, np.array(since))


def save_session(path: Path, session: Session) -> None:
    """Write it as npz without pickles."""
    meta = {"version": VERSION, "policy": session.policy, "scene": dataclasses.asdict(session.scene)}
    text = np.array(json.dumps(meta | {"height": session.height}))
    save_npz(path, session=text, **{name: getattr(session, name) for name in ARRAYS})


def load_session(path: Path) -> Session:
    """Read it back. Raises ValueError that names the file, FileNotFoundError."""
    try:
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(str(file["session"]))
            arrays = {name: entry(file, name) for name in ARRAYS}
        if meta["version"] != VERSION:
            raise ValueError(f"version {meta['version']}, expected {VERSION}")
        scene = Scene(meta["scene"]["name"], tuple(make_piece(p) for p in meta["scene"]["pieces"]))
        n = len(arrays["op"])
        shapes = {"pos": (n, 3, 3), "quat": (n, 3, 4), "op": (n,), "since": ()}
        odd = [k for k, shape in shapes.items() if arrays[k].shape != shape]
        if odd or arrays["qpos"].ndim != 2 or len(arrays["qpos"]) != n or n < 2:
            raise ValueError("arrays of different lengths")
        for name in ("pos", "quat", "qpos", "placement"):
            if arrays[name].dtype.kind not in "fiu" or not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name} holds what is no finite number")
        return Session(str(meta["policy"]), scene, float(meta["height"]), **arrays)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path}: not a recorded session: {error}") from error


def replay(session: Session, follower: Follower) -> np.ndarray:
    """(N, nq) what the body does when it is told the same again; begins with a reset."""
    poses: list[Pose] = []
    objects = follower.world.layout.object_qpos
    for op, pos, quat, qpos, placement in zip(
        session.op, session.pos, session.quat, session.qpos, session.placement, strict=True
    ):
        if not np.array_equal(placement, follower.placement):
            follower.place(placement)
        poses.append(follower.reset(pos, quat, qpos[objects]) if op == RESET else follower.step(pos, quat))
    return np.stack([p.qpos for p in poses])


def session_clip(session: Session, room: Room, name: str) -> Clip:
    """The longest stretch without a fall as a clip of the body that was simulated. Raises ValueError if it is none."""
    starts = [int(session.since), *(np.flatnonzero(session.op == RESET) + 1), len(session.op) + 1]
    starts = sorted({max(s, int(session.since)) for s in starts})
    first, last = max(pairwise(starts), key=lambda s: s[1] - s[0])
    if last - first < 3:
        raise ValueError("too short for a clip")
    columns, _ = coordinates(room.world, list(assign(session.scene, room.world)))
    qpos = session.qpos[first : last - 1][:, columns]
    return make_clip(name, qpos, session.scene, session.height, "a live session", "the user's own")
