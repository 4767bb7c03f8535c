"""The tree of nodes of glTF 2.0: read, moved by an animation's tracks, and placed in the world."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.gltf_file import Document, entry, reading
from qes_jax.motion.formats.gltf_tracks import WIDTHS, Track, sample, unit
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.frames import rotation

HUGE = 1e12  # numbers whose squares still fit, and larger than any place in any unit


@dataclass(frozen=True)
class Nodes:
    """N nodes, each moved into its parent by translation, rotation (wxyz) and scale; T = 1 for a still pose."""

    parents: tuple[int, ...]  # -1 for a root
    order: tuple[int, ...]  # parents before their children
    translation: np.ndarray  # (T, N, 3)
    rotation: np.ndarray  # (T, N, 4)
    scale: np.ndarray  # (T, N, 3)


def read_nodes(document: Document) -> Nodes:
    """The nodes as they stand in the file, T = 1. Raises RecordingError."""
    items, rows = document.lists["nodes"], []
    parents = [-1] * len(items)
    for number, node in enumerate(items):
        with reading(document.path, f"nodes[{number}]"):
            rows.append(_place(node))
            for child in node.get("children", []):
                entry(items, child, "child")
                if parents[child] >= 0 or child == number:
                    raise ValueError(f"child {child} has another parent")
                parents[child] = number
    translation, turn, scale = (np.array(column)[None] for column in zip(*rows, strict=True))
    return Nodes(tuple(parents), _order(document, parents), translation, turn, scale)


def _place(node: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translation, rotation wxyz and scale of a node; a matrix (by columns) is taken apart."""
    if "matrix" in node:
        matrix = np.array(node["matrix"], np.float64).reshape(4, 4).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        if not (np.abs(matrix) < HUGE).all() or scale.min() < 1e-12:
            raise ValueError("its matrix is not finite, beyond all measure, or flat")
        scale = scale * np.sign(np.linalg.det(matrix[:3, :3]))
        turn = Rotation.from_matrix(matrix[:3, :3] / scale).as_quat(scalar_first=True)
        return matrix[:3, 3], turn, scale
    pos = np.array(node.get("translation", (0, 0, 0)), np.float64).reshape(3)
    turn = np.array(node.get("rotation", (0, 0, 0, 1)), np.float64).reshape(4)
    scale = np.array(node.get("scale", (1, 1, 1)), np.float64).reshape(3)
    if not (np.abs([*pos, *turn, *scale]) < HUGE).all():
        raise ValueError("its place is not finite, or beyond all measure")
    return pos, unit(turn)[[3, 0, 1, 2]], scale


def _order(document: Document, parents: list[int]) -> tuple[int, ...]:
    """Nodes, parents before children."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    order = list(children.get(-1, []))
    for node in order:  # it grows as we go
        order += children.get(node, [])
    if len(order) < len(parents):
        raise RecordingError(f"{document.path}: field nodes: some of them are their own ancestors")
    return tuple(order)


def animated(still: Nodes, tracks: list[Track], times: np.ndarray) -> Nodes:
    """The nodes as tracks move them, at times (T,) [s]."""
    frames = len(times)
    fields = {k: np.repeat(getattr(still, k), frames, axis=0) for k in WIDTHS}
    for track in tracks:
        fields[track.path][:, track.node] = sample(track, times)
    return Nodes(still.parents, still.order, **fields)


def world(nodes: Nodes, keep: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In the world, of J nodes: places (T, J, 3), rotations (T, J, 4) without scales, linear maps (T, J, 3, 3) with."""
    frames: dict[int, tuple[np.ndarray, Rotation, np.ndarray]] = {}
    for node in nodes.order:
        pos, turn = nodes.translation[:, node], rotation(nodes.rotation[:, node])
        linear = turn.as_matrix() * nodes.scale[:, node, None, :]
        if nodes.parents[node] >= 0:
            place, above, scaled = frames[nodes.parents[node]]
            pos, turn, linear = place + np.einsum("tij,tj->ti", scaled, pos), above * turn, scaled @ linear
        frames[node] = pos, turn, linear
    places, turns, maps = zip(*(frames[k] for k in keep), strict=True)
    quats = [t.as_quat(scalar_first=True) for t in turns]
    return np.stack(places, axis=1), np.stack(quats, axis=1), np.stack(maps, axis=1)
