"""What a user's scene most likely does not mean: lengths that are no metres, pieces that stand inside one another."""

import warnings
from itertools import combinations

import mujoco
import numpy as np

from qes_jax.model.scene import Piece, Scene, add_piece

SMALLEST, LARGEST = 0.001, 20.0  # [m] of a piece: whatever is over 20 cm is told when given in centimetres
FARTHEST = 30.0  # [m] from the origin
SUNK = 0.03  # [m] pieces may touch, stand on one another, and sink in by so much


class SceneError(ValueError):
    """A scene file that cannot be used; the message names the file, and the piece where it is one that is wrong."""


class SceneWarning(UserWarning):
    """What is odd about a scene and may still be meant."""


def check_scene(scene: Scene) -> None:
    """Raise ValueError that names piece and field at lengths that are no metres, warn of pieces that overlap.

    Overlaps are no error: pieces do not collide with each other, and stairs or a corner couch are well described by
    boxes that overlap.
    """
    for piece in scene.pieces:
        if piece.name == "world":  # as `build_world` says it, which comes later
            raise ValueError("piece 'world': a part of the character is called that, choose another name")
        _check_lengths(piece)
    m = _alone(scene)
    for g in range(m.ngeom):
        owner = m.body(m.body_rootid[m.geom_bodyid[g]]).name
        if m.geom_rbound[g] > LARGEST / 2 and _mine(scene, owner).kind == "mjcf":
            raise ValueError(
                f"piece {owner!r}: geom {m.geom(g).name.rpartition('/')[2] or 'without a name'} of size "
                f"{_plain(m.geom_size[g])} reaches over {2 * m.geom_rbound[g]:.0f} m: lengths are in metres"
            )
    for (a, b), depth in overlaps(m).items():
        warnings.warn(
            f"scene {scene.name!r}: pieces {a!r} and {b!r} overlap by {100 * depth:.0f} cm. Is that meant?",
            SceneWarning,
            stacklevel=2,
        )


def _mine(scene: Scene, name: str) -> Piece:
    return next(p for p in scene.pieces if p.name == name)


def _check_lengths(piece: Piece) -> None:
    who = f"piece {piece.name!r}: field"
    if max(np.abs(piece.pos)) > FARTHEST:
        raise ValueError(f"{who} 'pos' is {_plain(piece.pos)}, over {FARTHEST:g} m away: {_metres(piece.pos)}")
    if piece.size and max(piece.size) > LARGEST:
        raise ValueError(f"{who} 'size' is {_plain(piece.size)}, over {LARGEST:g} m: {_metres(piece.size)}")
    if piece.size and min(piece.size) < SMALLEST:
        raise ValueError(f"{who} 'size' is {_plain(piece.size)}, less than a millimetre: lengths are in metres")


def _metres(values: tuple[float, ...]) -> str:
    return f"lengths are in metres; from centimetres it would be {_plain(np.array(values) / 100)}"


def _plain(values: np.ndarray | tuple[float, ...]) -> str:
    return f"[{', '.join(f'{v:g}' for v in values)}]"


def _alone(scene: Scene) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    for piece in scene.pieces:
        add_piece(spec, piece)
    return spec.compile()


def overlaps(m: mujoco.MjModel) -> dict[tuple[str, str], float]:
    """Names of pieces that sink into each other by more than SUNK, and how deep [m], as they are modelled.

    The depth is that of the deepest pair of their geoms that can be touched: the way to push the two apart.
    """
    data, found = mujoco.MjData(m), {}
    mujoco.mj_kinematics(m, data)
    root = m.body_rootid[m.geom_bodyid]
    for a, b in combinations(np.flatnonzero(m.geom_contype), 2):
        reach = m.geom_rbound[a] + m.geom_rbound[b] - SUNK
        if root[a] == root[b] or np.linalg.norm(data.geom_xpos[a] - data.geom_xpos[b]) > reach:
            continue
        pair = m.body(root[a]).name, m.body(root[b]).name
        depth = -mujoco.mj_geomDistance(m, data, int(a), int(b), 0.01, None)
        if depth > max(SUNK, found.get(pair, 0.0)):
            found[pair] = depth
    return found
