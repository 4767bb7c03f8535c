"""The built-in clips by name."""

from collections.abc import Callable

import numpy as np

from qes_jax.authoring.body import Body, make_body
from qes_jax.authoring.gait import follow, guide_stand, stand_pose, turn_guide, walk_guide
from qes_jax.authoring.furniture import TUCKED, Visit, seat_of, seat_stand, sit
from qes_jax.authoring.ik import solve
from qes_jax.authoring.steps import APPROACH, climb, levels_of
from qes_jax.authoring.targets import Targets, join, standing
from qes_jax.authoring.timeline import n_frames
from qes_jax.model.scene import Piece, Scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip

LICENCE = "Apache-2.0"
SOURCE = "made by qes_jax.authoring"
HEIGHT = 1.75

Recipe = Callable[[Body], tuple[Targets, Scene]]


def _walk_loop(body: Body) -> tuple[Targets, Scene]:
    points = [(3.0, 0.0), (4.6, 1.2), (3.4, 2.6), (1.0, 2.4), (-1.0, 1.0), (-3.0, -0.6), (-5.0, 0.2), (-4.6, 2.2), (-2.4, 2.4)]
    points += [(-0.4, 1.0), (1.0, -1.0), (3.0, -1.8), (4.4, -0.4), (3.0, 0.9), (0.6, 0.2)]
    stand = guide_stand(np.zeros(3))
    parts = [standing(body, stand, n_frames(0.5))]
    walk, stand = follow(body, stand, walk_guide(np.zeros(3), points, 1.1))
    return join([*parts, walk, standing(body, stand, n_frames(0.5))]), Scene("flat")


def _stool(body: Body) -> tuple[Targets, Scene]:
    piece = Piece("stool", "stool", pos=(2.0, 0.0, 0.0), yaw=np.pi)
    seat = seat_of(piece)
    start = np.zeros(3)
    stand = guide_stand(start)
    parts = [standing(body, stand, n_frames(0.5))]
    walk, stand = follow(body, stand, walk_guide(start, [seat.point(0.62)], 0.9))
    parts.append(walk)
    turn, stand = follow(body, stand, turn_guide(stand_pose(stand), np.pi, tuple(seat.point(seat.hips + TUCKED))))
    parts.append(turn)
    parts.append(sit(body, seat, Visit()))
    walk, stand = follow(body, seat_stand(seat), walk_guide(stand_pose(seat_stand(seat)), [(0.0, 0.5)], 0.9))
    parts.append(walk)
    return join(parts), Scene("stool", (piece,))


def _box(height: float):
    def recipe(body: Body) -> tuple[Targets, Scene]:
        piece = Piece("box", "box", (0.6, 0.8, height), (1.6, 0.0, 0.0))
        start = np.zeros(3)
        stand = guide_stand(start)
        levels = levels_of((piece,), start)
        walk, stand = follow(body, stand, walk_guide(start, [(levels[0].near - APPROACH, 0.0)], 0.9))
        up, stand = climb(body, stand, levels_of((piece,), stand_pose(stand)))
        away, stand = follow(body, stand, walk_guide(stand_pose(stand), [(3.5, 0.0)], 0.9))
        return join([walk, up, away]), Scene("box", (piece,))

    return recipe


RECIPES: dict[str, Recipe] = {"walk": _walk_loop, "stool": _stool, "box10": _box(0.1), "box30": _box(0.3), "box45": _box(0.45)}


def build(name: str) -> Clip:
    """One built-in clip. Raises KeyError that lists the valid names."""
    if name not in RECIPES:
        raise KeyError(f"unknown clip {name!r}: expected one of {sorted(RECIPES)}")
    body = make_body(HEIGHT)
    targets, scene = RECIPES[name](body)
    return make_clip(name, solve(body, targets), scene, HEIGHT, SOURCE, LICENCE)
