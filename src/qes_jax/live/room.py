"""A scene with the body that moves in it, and what a user does to the furniture: move, turn, save."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from qes_jax.env.task import Task
from qes_jax.evaluate.rollout import Act
from qes_jax.evaluate.stream import Follower
from qes_jax.files import replacing
from qes_jax.live.person import Figure
from qes_jax.model.scene import PARKED, Scene
from qes_jax.model.scene_check import FARTHEST
from qes_jax.model.world import World


@dataclass(frozen=True)
class Room:
    """A policy's body in a scene. `rows`: for each of the scene's pieces the world's that plays it."""

    policy: str
    scene: Scene
    rows: tuple[int, ...]
    follower: Follower
    figure: Figure

    @property
    def world(self) -> World:
        """The compiled models."""
        return self.follower.world

    def placement(self) -> np.ndarray:
        """(O-1, 7) where all the world's pieces are."""
        return placed(self.scene, self.rows, self.world)


Furnish = Callable[[str, Scene], Room]  # policy's name, scene -> room; slow


def make_room(name: str, task: Task, act: Act, policy: Any, mean_pose: jax.Array, scene: Scene) -> Room:
    """A room around a policy whose task's world has the scene's pieces, compiled. ValueError where it lacks one."""
    world = task.engine.world
    rows = assign(scene, world)
    follower = Follower(task, act, policy, mean_pose, placed(scene, rows, world))
    figure = Figure(world)
    follower.reset(figure.pos, figure.quat)
    for _ in range(task.config.future + 1):  # so that it is compiled before anybody waits for it
        follower.step(figure.pos, figure.quat)
    return Room(name, scene, rows, follower, figure)


def assign(scene: Scene, world: World) -> tuple[int, ...]:
    """For each piece of a scene the first of the world's of its kind and size that is still free."""
    taken: list[int] = []
    for piece in scene.pieces:
        index = next((i for i, p in enumerate(world.pieces) if p.shape == piece.shape and i not in taken), None)
        if index is None:
            raise ValueError(f"piece {piece.name!r}: the world has no {piece.kind} for it")
        taken.append(index)
    return tuple(taken)


def placed(scene: Scene, rows: tuple[int, ...], world: World) -> np.ndarray:
    """(O-1, 7) the scene's pieces where they stand, all others parked."""
    placement = np.tile(np.array(PARKED), (len(world.pieces), 1))
    for row, piece in zip(rows, scene.pieces, strict=True):
        placement[row] = piece.placement()
    return placement


def moved(room: Room, name: str, x: float, y: float, yaw: float) -> Room:
    """The room with a piece elsewhere on the floor, at once also where the body moves. Raises ValueError."""
    names = [p.name for p in room.scene.pieces]
    if name not in names:
        raise ValueError(f"no piece {name!r} in this room: expected one of {', '.join(names) or 'none'}")
    if not all(map(math.isfinite, (x, y, yaw))) or max(abs(x), abs(y)) > FARTHEST:
        raise ValueError(f"piece {name!r}: place {x}, {y} or yaw {yaw} is not finite or beyond {FARTHEST:.0f} m")
    pieces = tuple(
        replace(p, pos=(x, y, p.pos[2]), yaw=math.remainder(yaw, 2 * math.pi)) if p.name == name else p
        for p in room.scene.pieces
    )
    after = replace(room, scene=replace(room.scene, pieces=pieces))
    room.follower.place(after.placement())
    return after


def write_scene(path: Path, scene: Scene) -> None:
    """A scene as TOML that `scene_file.read_scene` reads; furniture of the user's own goes into files beside it."""
    lines = [f"name = {json.dumps(scene.name)}"]
    for piece in scene.pieces:
        kind = piece.kind
        if piece.mjcf is not None:
            kind = f"{path.stem}_{len(lines)}.xml"
            with replacing(path.with_name(kind)) as aside:
                aside.write_text(piece.mjcf, encoding="utf-8")
        lines += ["", "[[piece]]", f"name = {json.dumps(piece.name)}", f"kind = {json.dumps(kind)}"]
        if piece.size is not None:
            lines.append(f"size = {[float(s) for s in piece.size]}")
        lines += [f"pos = {[round(float(p), 4) for p in piece.pos]}", f"yaw = {round(float(piece.yaw), 4)}"]
    with replacing(path) as aside:
        aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
