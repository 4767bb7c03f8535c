"""Scenes of the user's own: a TOML file that lists pieces, or an MJCF file of which each body is a piece.

name = "study"

[[piece]]
name = "desk"
kind = "box"  # or a kind of furniture, or an MJCF file of one body, relative to this one
size = [1.4, 0.7, 0.74]  # [m] of a box
pos = [1.0, 0.5, 0.0]  # [m] the middle of its underside, the origin if left out
yaw_degrees = 90  # or yaw, in radians; 0 if left out
"""

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qes_jax.model.scene import SCENES, Piece, Scene, make_piece
from qes_jax.model.scene_check import SceneError, check_scene
from qes_jax.model.scene_mjcf import read_bodies

FIELDS = ("name", "kind", "size", "pos", "yaw", "yaw_degrees")


def find_scene(word: str) -> Scene:
    """A built-in scene by name, else one from a file. Raises KeyError that lists the names, SceneError, or OSError."""
    if word in SCENES:
        return SCENES[word]
    if is_scene_file(word):
        return read_scene(word)
    raise KeyError(f"unknown scene {word!r}: expected one of {', '.join(SCENES)}, or a file (.toml, or MJCF's .xml)")


def is_scene_file(word: str) -> bool:
    """Whether a word means a file, by its ending."""
    return word not in SCENES and Path(word).suffix.lower() in (".toml", ".xml")


def read_scene(path: str | Path) -> Scene:
    """A scene from a TOML or MJCF file. Raises SceneError, or FileNotFoundError; warns of what may not be meant."""
    path = Path(path)
    try:
        scene = _from_toml(path) if path.suffix.lower() == ".toml" else Scene(path.stem, read_bodies(path))
        check_scene(scene)
        return scene
    except (SceneError, FileNotFoundError):
        raise
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from None


def _from_toml(path: Path) -> Scene:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deep") from None
    unknown = sorted(set(content) - {"name", "piece"})
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}: expected name and [[piece]] tables")
    tables = content.get("piece", [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise ValueError("field piece: expected [[piece]] tables")
    pieces = [_piece(path, table, number) for number, table in enumerate(tables, start=1)]
    return Scene(str(content.get("name", path.stem)), tuple(pieces))


def _piece(path: Path, table: Mapping[str, Any], number: int) -> Piece:
    """A piece from its table, the number-th of a file."""
    who = f"piece {table['name']!r}" if isinstance(table.get("name"), str) else f"piece {number}"
    for field in ("name", "kind"):
        if not isinstance(table.get(field), str):
            raise ValueError(f"{who}: field {field!r} is missing or no text")
    unknown = sorted(set(table) - set(FIELDS))
    if unknown:
        raise ValueError(f"{who}: unknown field {unknown[0]!r}, expected some of {', '.join(FIELDS)}")
    for field, count in (("size", 3), ("pos", 3), ("yaw", 0), ("yaw_degrees", 0)):
        if field in table and not _numbers(table[field], count):
            raise ValueError(f"{who}: field {field!r} is {table[field]!r}, expected {count or 'a'} number{'s'[:count]}")
    if abs(table.get("yaw", 0.0)) > 2 * math.pi:
        raise ValueError(f"{who}: field 'yaw' is {table['yaw']} rad, over a full turn; for degrees give yaw_degrees")
    fields = dict(table)
    if "yaw_degrees" in fields:
        if "yaw" in fields:
            raise ValueError(f"{who}: give yaw [rad] or yaw_degrees, not both")
        fields["yaw"] = math.radians(fields.pop("yaw_degrees"))
    return _own(path, fields, who) if fields["kind"].lower().endswith(".xml") else make_piece(fields)


def _numbers(value: Any, count: int) -> bool:
    """Whether a value is a list of so many numbers, for a count of 0 a number."""
    values = value if count and isinstance(value, list) else [value]
    exact = (type(v) is float or (type(v) is int and abs(v) < 2**53) for v in values)
    return len(values) == max(count, 1) and all(exact)


def _own(path: Path, fields: dict[str, Any], who: str) -> Piece:
    """A piece whose kind is an MJCF file, found beside the scene's."""
    file = path.parent / fields.pop("kind")
    if not file.is_file():
        raise ValueError(f"{who}: there is no file {file}")
    if "size" in fields:
        raise ValueError(f"{who}: only a box takes a size")
    bodies = read_bodies(file)
    if len(bodies) != 1:
        raise ValueError(f"{who}: {file} has {len(bodies)} bodies below the world, expected one")
    return make_piece({"kind": "mjcf", "mjcf": bodies[0].mjcf, **fields})
