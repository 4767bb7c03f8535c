"""glTF 2.0 animations (.glb, .gltf) of a skeleton: one of a file's clips, sampled at an even rate. Y up, metres.

Joints are those of the skins that the clip moves; in a file without skins, the moved nodes and what hangs above and
below them. What a clip does not move keeps the node's own place. Scales act on places, and are gone afterwards.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.gltf_file import Document, entry, read_document, reading
from qes_jax.motion.formats.gltf_tracks import WIDTHS, Track, read_tracks, sample, sample_times, unit
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, z_up
from qes_jax.motion.frames import rotation


@dataclass(frozen=True)
class Nodes:
    """N nodes, each moved into its parent by translation, rotation (wxyz) and scale; T = 1 for a still pose."""

    parents: tuple[int, ...]  # -1 for a root
    order: tuple[int, ...]  # parents before their children
    translation: np.ndarray  # (T, N, 3)
    rotation: np.ndarray  # (T, N, 4)
    scale: np.ndarray  # (T, N, 3)


def clip_names(document: Document) -> tuple[str, ...]:
    """Names of the file's animations, made distinct."""
    return _distinct([a.get("name") for a in document.lists["animations"]], "clip")


def read_gltf(path: str | Path, clip: str | None = None) -> SkeletonMotion:
    """The clip of that name, which may be left out where there is one only. Raises RecordingError, which lists them."""
    document = read_document(path)
    tracks = read_tracks(document, _choose(document, clip))
    still = _nodes(document)
    names = _distinct([n.get("name") for n in document.lists["nodes"]], "node")
    fps, times = sample_times(Path(path), tracks)
    with reading(document.path, "animations"):
        moved = _animate(still, tracks, times)
    keep = _joints(document, still, {t.node for t in tracks})
    parents, rest_pos, rest_quat = _skeleton(still, keep)
    _, pos, quat = _skeleton(moved, keep)
    motion = SkeletonMotion(
        Path(path).name, str(document.asset.get("copyright", "unknown")), fps, tuple(names[k] for k in keep),
        parents, rest_pos[0], rest_quat[0], pos, quat,
    )  # fmt: skip
    return z_up(motion, "y")


def _distinct(names: list, kind: str) -> tuple[str, ...]:
    """Names as given, with their number where there is none, or where they are not the first of that name."""
    result: list[str] = []
    for number, name in enumerate(names):
        name = str(name) if name else f"{kind}{number}"
        result.append(f"{name}#{number}" if name in result else name)
    return tuple(result)


def _choose(document: Document, clip: str | None) -> int:
    names = clip_names(document)
    if not names:
        raise RecordingError(f"{document.path}: field animations: there are none")
    if clip is None and len(names) == 1:
        return 0
    if clip not in names:
        what = f"holds {len(names)} clips, name one" if clip is None else f"no clip is called {clip!r}, choose"
        raise RecordingError(f"{document.path}: {what} of: {', '.join(names)}")
    return names.index(clip)


def _nodes(document: Document) -> Nodes:
    """The nodes at rest."""
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
        if not np.isfinite(matrix).all() or scale.min() < 1e-12:
            raise ValueError("its matrix is not finite, or flat")
        scale = scale * np.sign(np.linalg.det(matrix[:3, :3]))
        turn = Rotation.from_matrix(matrix[:3, :3] / scale).as_quat(scalar_first=True)
        return matrix[:3, 3], turn, scale
    pos = np.array(node.get("translation", (0, 0, 0)), np.float64).reshape(3)
    turn = unit(np.array(node.get("rotation", (0, 0, 0, 1)), np.float64).reshape(4))[[3, 0, 1, 2]]
    scale = np.array(node.get("scale", (1, 1, 1)), np.float64).reshape(3)
    if not np.isfinite([*pos, *turn, *scale]).all():
        raise ValueError("its place is not finite")
    return pos, turn, scale


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


def _animate(still: Nodes, tracks: list[Track], times: np.ndarray) -> Nodes:
    frames = len(times)
    fields = {k: np.repeat(getattr(still, k), frames, axis=0) for k in WIDTHS}
    for track in tracks:
        fields[track.path][:, track.node] = sample(track, times)
    return Nodes(still.parents, still.order, **fields)


def _joints(document: Document, nodes: Nodes, moved: set[int]) -> list[int]:
    """The nodes that make the skeleton, parents before children."""
    joints: set[int] = set()
    for number, skin in enumerate(document.lists["skins"]):
        with reading(document.path, f"skins[{number}]"):
            mine = {j for j in skin["joints"] if entry(document.lists["nodes"], j, "joint")}
            joints |= mine if mine & moved else set()
    if joints:
        return [n for n in nodes.order if n in joints]
    above, below = set(moved), set(moved)
    for node in reversed(nodes.order):
        if node in above:
            above.add(nodes.parents[node])
    for node in nodes.order:
        if nodes.parents[node] in below:
            below.add(node)
    return [n for n in nodes.order if n in above | below]


def _skeleton(nodes: Nodes, keep: list[int]) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Parents (J,), places (T, J, 3), rotations (T, J, 4) of kept nodes in their nearest kept ancestors, unscaled."""
    places, turns = _world(nodes)
    parents, pos, quat = [], [], []
    for node in keep:
        parent = nodes.parents[node]
        while parent >= 0 and parent not in keep:
            parent = nodes.parents[parent]
        back = turns[parent].inv() if parent >= 0 else Rotation.identity()
        parents.append(keep.index(parent) if parent >= 0 else -1)
        pos.append(back.apply(places[node] - (places[parent] if parent >= 0 else 0.0)))
        quat.append((back * turns[node]).as_quat(scalar_first=True))
    return tuple(parents), np.stack(pos, axis=1), np.stack(quat, axis=1)


def _world(nodes: Nodes) -> tuple[dict[int, np.ndarray], dict[int, Rotation]]:
    """Places (T, 3), scales included, and rotations, scales left out, of all nodes."""
    places: dict[int, np.ndarray] = {}
    turns: dict[int, Rotation] = {}
    maps: dict[int, np.ndarray] = {}
    for node in nodes.order:
        parent, pos, turn = nodes.parents[node], nodes.translation[:, node], rotation(nodes.rotation[:, node])
        linear = turn.as_matrix() * nodes.scale[:, node, None, :]
        if parent >= 0:
            pos = places[parent] + np.einsum("tij,tj->ti", maps[parent], pos)
            linear, turn = maps[parent] @ linear, turns[parent] * turn
        places[node], turns[node], maps[node] = pos, turn, linear
    return places, turns
