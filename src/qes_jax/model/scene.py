"""A scene is a list of pieces: boxes of any size, furniture from mjcf/scenes/. Each piece has a name and a place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from qes_jax.paths import mjcf_dir

PARKED = (0.0, 0.0, -100.0, 1.0, 0.0, 0.0, 0.0)  # where a piece lies in an environment that does not use it


def furniture() -> list[str]:
    """The kinds of piece that have a file in mjcf/scenes/."""
    return sorted(p.stem for p in (mjcf_dir() / "scenes").glob("*.xml"))


@dataclass(frozen=True)
class Piece:
    """One object. `kind` is "box", the name of a file in mjcf/scenes/, or "mjcf".

    `size` [m] are a box's extents along x, y, z. `mjcf` is the text of a model of one body, a user's own furniture,
    which thus travels with each clip (`scene_file.py` makes it from a file). `pos` [m] is the middle of the underside,
    `yaw` [rad] the turn about Z: where the piece stands unless an environment places it elsewhere.
    """

    name: str
    kind: str
    size: tuple[float, float, float] | None = None
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    mjcf: str | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and isinstance(self.kind, str)):
            raise ValueError(f"piece {self.name!r:.80}: name and kind are texts")
        if (self.kind == "mjcf") != (self.mjcf is not None):
            raise ValueError(f"piece {self.name!r}: kind 'mjcf' and the text of its model belong together")
        if self.kind == "box":
            if self.size is None or len(self.size) != 3 or not all(np.isfinite(self.size)) or min(self.size) <= 0:
                raise ValueError(f"piece {self.name!r}: a box needs three positive sizes [m], got {self.size}")
        elif self.kind not in (*furniture(), "mjcf"):
            raise ValueError(f"piece {self.name!r}: unknown kind {self.kind!r}, expected box or one of {furniture()}")
        elif self.size is not None:
            raise ValueError(f"piece {self.name!r}: only a box takes a size, {self.kind!r} has its own")
        if not np.all(np.isfinite([*self.pos, self.yaw])):
            raise ValueError(f"piece {self.name!r}: pos {self.pos} or yaw {self.yaw} is not finite")

    @property
    def shape(self) -> tuple[str, tuple[float, float, float] | None, str | None]:
        """What pieces that can stand in for one another have in common."""
        return self.kind, self.size, self.mjcf

    def placement(self) -> np.ndarray:
        """(7,) position and quaternion wxyz of the piece's frame."""
        return np.array([*self.pos, np.cos(self.yaw / 2), 0.0, 0.0, np.sin(self.yaw / 2)])


def make_piece(fields: Mapping[str, Any]) -> Piece:
    """A piece from its fields as JSON has them, lists for tuples. Raises TypeError or ValueError at wrong ones."""
    if not isinstance(fields, Mapping):
        raise TypeError(f"expected the fields of a piece, got {fields!r:.80}")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return Piece(**values)


@dataclass(frozen=True)
class Scene:
    """Pieces with distinct names. "floor" is always there and is no piece."""

    name: str
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"scene {self.name!r:.80}: its name is a text")
        names = [p.name for p in self.pieces]
        if len(set(names)) < len(names) or {"", "floor"} & set(names):
            raise ValueError(f"scene {self.name!r}: piece names must be distinct, not '' and not 'floor': {names}")


LOW, HIGH = (0.6, 0.8, 0.18), (0.6, 0.8, 0.45)  # [m] boxes to step onto

SCENES = {
    "flat": Scene("flat"),
    "stool": Scene("stool", (Piece("stool", "stool"),)),
    "stool_high": Scene("stool_high", (Piece("stool_high", "stool_high"),)),
    "chair": Scene("chair", (Piece("chair", "chair"),)),
    "couch": Scene("couch", (Piece("couch", "couch"),)),
    "office_chair": Scene("office_chair", (Piece("office_chair", "office_chair"),)),
    "tilting_chair": Scene("tilting_chair", (Piece("tilting_chair", "tilting_chair"),)),
    "boxes": Scene("boxes", (Piece("low", "box", LOW, (0.9, 0.0, 0.0)), Piece("high", "box", HIGH, (1.7, 0.0, 0.0)))),
    "obstacles": Scene(
        "obstacles",
        (
            Piece("bar1", "box", (0.12, 1.2, 0.1), (1.2, 0.0, 0.0)),
            Piece("bar2", "box", (0.12, 1.2, 0.2), (2.6, 0.0, 0.0)),
            Piece("bar3", "box", (0.25, 1.2, 0.15), (4.0, 0.0, 0.0)),
        ),
    ),
    "living_room": Scene(
        "living_room",
        (
            Piece("couch", "couch", None, (2.2, 0.2, 0.0), np.pi),
            Piece("stool", "stool", None, (0.9, 1.9, 0.0), -2.2),
            Piece("chair", "chair", None, (0.3, -2.0, 0.0), 1.4),
            Piece("low", "box", LOW, (-1.5, 0.6, 0.0), np.pi),
            Piece("high", "box", HIGH, (-2.3, 0.6, 0.0), np.pi),
        ),
    ),
}


def get_scene(name: str) -> Scene:
    """A built-in scene by name. Raises KeyError that lists the valid ones."""
    if name not in SCENES:
        raise KeyError(f"unknown scene {name!r}: expected one of {sorted(SCENES)}")
    return SCENES[name]


def union(scenes: list[Scene]) -> tuple[tuple[Piece, ...], list[dict[str, int]]]:
    """The fewest pieces that can furnish any one of the scenes at a time.

    Returns the pieces (named after their kind and number), and for each scene the index among them of each of its
    pieces. Pieces of one kind and size are shared between scenes, never within one.
    """
    pieces: list[Piece] = []
    maps = []
    for scene in scenes:
        taken: set[int] = set()
        places = {}
        for piece in scene.pieces:
            fits = (i for i, p in enumerate(pieces) if p.shape == piece.shape and i not in taken)
            index = next(fits, len(pieces))
            if index == len(pieces):
                number = sum(p.kind == piece.kind for p in pieces)
                pieces.append(replace(piece, name=f"{piece.kind}{number}"))
            taken.add(index)
            places[piece.name] = index
        maps.append(places)
    return tuple(pieces), maps


def piece_spec(piece: Piece) -> mujoco.MjSpec:
    """The model of a piece that is no box: one body below the world's."""
    if piece.mjcf is not None:
        return mujoco.MjSpec.from_string(piece.mjcf)
    return mujoco.MjSpec.from_file(str(mjcf_dir() / "scenes" / f"{piece.kind}.xml"))


def add_piece(spec: mujoco.MjSpec, piece: Piece) -> None:
    """Put a piece into the world as a mocap body: its place is state, not model, and moving it recompiles nothing."""
    if piece.kind == "box":
        body = spec.worldbody.add_body(name=piece.name)
        half = 0.5 * np.asarray(piece.size)
        body.add_geom(
            name=f"{piece.name}/box", type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=[0, 0, half[2]],
            contype=2, conaffinity=1, condim=3, friction=[1, 0.02, 0.001], rgba=[0.72, 0.6, 0.45, 1],
        )  # fmt: skip
    else:
        frame = spec.worldbody.add_frame()
        body = frame.attach_body(piece_spec(piece).worldbody.first_body(), f"{piece.name}/", "")
        body.name = piece.name
    body.mocap = True
    body.pos, body.quat = piece.placement()[:3], piece.placement()[3:]
