"""Clips moved into another room: what they use of furniture stands there too, in another place."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Piece, Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import velocities
from qes_jax.motion.clip import Clip, validate_clip
from qes_jax.motion.frames import turn_points, turn_quats
from qes_jax.motion.library import coordinates
from qes_jax.motion.rig import Rig
from qes_jax.motion.touch import Toucher

SAME_PLACE, SAME_YAW = 0.01, 0.02  # [m], [rad] within which pieces of two rooms stand alike
DEPTH = 0.02  # [m] that a motion may pass through furniture it knew nothing of


def clips_in_room(clips: Sequence[Clip], room: Scene) -> list[Clip]:
    """Each clip at every place of `room` where it fits, named CLIP@PIECE after the room's piece.

    A clip fits where the room has its pieces, in the same places relative to each other, and where the body passes
    through none of the others. A clip that uses no furniture fits nowhere, since it could be anywhere.
    """
    worlds: dict[float, World] = {}
    found = []
    for clip in clips:
        for assigned, yaw, shift in matches(clip.scene, room):
            if clip.height not in worlds:
                worlds[clip.height] = build_world(CharacterConfig(height=clip.height), room.pieces)
            moved = _moved(clip, room, worlds[clip.height], assigned, yaw, shift)
            if not clip.body_known or _depth(moved, worlds[clip.height], assigned) <= DEPTH:
                found.append(moved)
    return found


def fits_shapes(scene: Scene, room: Scene) -> bool:
    """Whether the scene's pieces could stand in the room as it has them, wherever a clip of that scene then passes."""
    return next(matches(scene, room), None) is not None


def matches(scene: Scene, room: Scene) -> Iterator[tuple[list[int], float, np.ndarray]]:
    """For each way to lay the scene onto the room: the room's pieces that play the scene's, yaw [rad], shift (3,) [m].

    The scene is turned about Z through the origin, then shifted along the floor.
    """
    if not scene.pieces:
        return
    first = scene.pieces[0]
    for onto in room.pieces:
        yaw = onto.yaw - first.yaw
        shift = np.array(onto.pos) - turn_points(np.array(first.pos), yaw)
        assigned: list[int] = []
        for piece in scene.pieces:
            place = turn_points(np.array(piece.pos), yaw) + shift
            fits = (
                i for i, p in enumerate(room.pieces) if i not in assigned and _stands(p, piece, place, piece.yaw + yaw)
            )
            index = next(fits, None)
            if index is None:
                break
            assigned.append(index)
        if len(assigned) == len(scene.pieces) and abs(shift[2]) <= SAME_PLACE:
            yield assigned, yaw, shift


def _stands(there: Piece, piece: Piece, place: np.ndarray, yaw: float) -> bool:
    """Whether a piece of the room is of the piece's shape and stands at that place (3,) and yaw."""
    turned = (there.yaw - yaw + np.pi) % (2 * np.pi) - np.pi
    near = np.linalg.norm(np.array(there.pos) - place) <= SAME_PLACE and abs(turned) <= SAME_YAW
    return there.shape == piece.shape and bool(near)


def _moved(clip: Clip, room: Scene, world: World, assigned: list[int], yaw: float, shift: np.ndarray) -> Clip:
    """The clip turned and shifted, in the room; joints of pieces that it does not use are at home."""
    q_rows, _ = coordinates(world, assigned)
    qpos = np.tile(world.layout.home_qpos, (clip.n_frames, 1))
    qpos[:, q_rows] = clip.qpos
    qpos[:, :3], qpos[:, 3:7] = turn_points(qpos[:, :3], yaw) + shift, turn_quats(qpos[:, 3:7], yaw)
    contact = np.zeros((*clip.contact.shape[:2], len(world.layout.objects)), np.uint8)
    contact[:, :, [0, *(1 + i for i in assigned)]] = clip.contact

    def points(x: np.ndarray) -> np.ndarray:
        return (turn_points(x.astype(np.float64), yaw) + shift).astype(np.float32)

    moved = dataclasses.replace(
        clip, name=f"{clip.name}@{room.pieces[assigned[0]].name}", scene=room, qpos=qpos.astype(np.float32),
        qvel=velocities(world.plain, qpos, clip.fps).astype(np.float32), contact=contact,
        link_pos=points(clip.link_pos), link_quat=turn_quats(clip.link_quat, yaw).astype(np.float32),
        sensor_pos=points(clip.sensor_pos), sensor_quat=turn_quats(clip.sensor_quat, yaw).astype(np.float32),
    )  # fmt: skip
    validate_clip(moved)
    return moved


def _depth(clip: Clip, world: World, assigned: list[int]) -> float:
    """How deep [m] the body passes through pieces that the motion does not know of."""
    touches = Toucher(Rig(world), 0.0)(clip.qpos)
    strange = (touches.geom >= 0) & ~np.isin(touches.object, [0, *(1 + i for i in assigned)])
    return float(max(0.0, -touches.dist[strange].min(initial=0.0)))
