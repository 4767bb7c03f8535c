"""glTF 2.0 animations (.glb, .gltf) of a skeleton: one of a file's clips, sampled at an even rate.

Joints are those of the skins that the clip moves; in a file without skins, the moved nodes and what hangs above and
below them. What a clip does not move keeps the node's own place. Scales act on places, and are gone afterwards.
glTF is Y up and in metres; files that are not, as some converters write them, are told by the body.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.gltf_file import Document, accessor, entry, read_document, reading
from qes_jax.motion.formats.gltf_nodes import Nodes, animated, read_nodes, world
from qes_jax.motion.formats.gltf_tracks import read_tracks, sample_times
from qes_jax.motion.formats.guess import settle_stated
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, localised


def clip_names(document: Document) -> tuple[str, ...]:
    """Names of the file's animations, made distinct."""
    return _distinct([a.get("name") for a in document.lists["animations"]], "clip")


def read_gltf(
    path: str | Path, clip: str | None = None, up: str | None = None, unit: float | None = None
) -> SkeletonMotion:
    """The clip of that name, which may be left out where there is one only. Raises RecordingError, which lists them.

    `up` instead of Y, `unit` [m] instead of the metre; where not given, see `guess.settle_stated`.
    """
    document = read_document(path)
    tracks = read_tracks(document, _choose(document, clip))
    still = read_nodes(document)
    names = _distinct([n.get("name") for n in document.lists["nodes"]], "node")
    fps, times = sample_times(Path(path), tracks)
    with reading(document.path, "animations"):
        moved = animated(still, tracks, times)
    keep = _joints(document, still, {t.node for t in tracks})
    parents = _parents(still, keep)
    rest_pos, rest_quat = localised(parents, *_bound(document, still, keep))
    pos, quat = localised(parents, *world(moved, keep)[:2])
    motion = SkeletonMotion(
        Path(path).name, str(document.asset.get("copyright", "unknown")), fps, tuple(names[k] for k in keep),
        parents, rest_pos[0], rest_quat[0], pos, quat, cyclic=_comes_back(parents, pos, quat),
    )  # fmt: skip
    return settle_stated(motion, unit, up)


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
        what = f"holds {len(names)} clips" if clip is None else f"no clip is called {clip!r}"
        raise RecordingError(f"{document.path}: {what}, choose by --clip one of: {', '.join(names)}")
    return names.index(clip)


def _joints(document: Document, nodes: Nodes, moved: set[int]) -> list[int]:
    """The nodes that make the skeleton, parents before children."""
    joints: set[int] = set()
    for number, skin in enumerate(document.lists["skins"]):
        with reading(document.path, f"skins[{number}]"):
            mine = set(skin["joints"])
            for joint in mine:
                entry(document.lists["nodes"], joint, "joint")
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


def _parents(nodes: Nodes, keep: list[int]) -> tuple[int, ...]:
    """Of each kept node its nearest kept ancestor, by place among the kept; -1 for none."""
    parents = []
    for node in keep:
        parent = nodes.parents[node]
        while parent >= 0 and parent not in keep:
            parent = nodes.parents[parent]
        parents.append(keep.index(parent) if parent >= 0 else -1)
    return tuple(parents)


def _bound(document: Document, still: Nodes, keep: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Places (1, J, 3) and rotations (1, J, 4) in the world at rest: as the nodes stand, or as a skin was bound.

    A skin knows its joints by the inverse of their places when it was bound, usually in a T-pose; the nodes may have
    been saved in any pose. Of a skin, the topmost joint stays where the nodes have it.
    """
    places, turns, maps = world(still, keep)
    for number, skin in enumerate(document.lists["skins"]):
        joints = skin.get("joints", [])
        if "inverseBindMatrices" not in skin or not set(joints) & set(keep):
            continue
        with reading(document.path, f"skins[{number}]"):
            matrices = accessor(document, skin["inverseBindMatrices"]).reshape(len(joints), 4, 4).swapaxes(1, 2)
        rows = {keep.index(joint): m for joint, m in zip(joints, matrices, strict=True)}
        top = min(rows)
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = maps[0, top], places[0, top]
        for row, inverse in rows.items():
            if min(abs(np.linalg.det(m)) for m in (inverse, frame)) < 1e-12:  # nothing was bound, or of no size
                continue
            bound = frame @ rows[top] @ np.linalg.inv(inverse)
            linear = bound[:3, :3] / np.linalg.norm(bound[:3, :3], axis=0)
            if np.linalg.det(linear) > 0.5:
                places[0, row], turns[0, row] = bound[:3, 3], Rotation.from_matrix(linear).as_quat(scalar_first=True)
    return places, turns


def _comes_back(parents: tuple[int, ...], pos: np.ndarray, quat: np.ndarray) -> bool:
    """Whether the last frame is the first one's pose, the roots' place and heading apart, after some motion."""
    inner = np.array(parents) >= 0
    turned = 1 - np.abs(np.einsum("tji,ji->tj", quat, quat[0]))[:, inner]
    shifted = np.abs(pos - pos[0])[:, inner].max(axis=-1, initial=0.0)
    moves = len(pos) > 3 and inner.any() and turned.max() > 1e-3
    return bool(moves and turned[-1].max() < 1e-4 and shifted[-1].max() < 1e-3)
