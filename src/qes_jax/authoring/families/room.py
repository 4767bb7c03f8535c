"""The living room: a minute of walking about, sitting here and there, stepping over the boxes, gestures."""

from dataclasses import replace
from functools import partial

import numpy as np

from qes_jax.authoring.body import Body
from qes_jax.authoring.families.hands import gesture
from qes_jax.authoring.families.sit import RESTS, spot_on, stay
from qes_jax.authoring.families.stand import GESTURES
from qes_jax.authoring.families.style import draw_style, styled
from qes_jax.authoring.furniture import RESTING, Visit
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.steps import approach
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets, standing
from qes_jax.model.scene import Piece, Scene, get_scene

SEATS = ("couch", "stool", "chair")
SHIFT, TWIST = 0.12, 0.25  # [m], [rad] by which furniture differs from the built-in room


def room_live(rng: np.random.Generator, level: float) -> Recipe:
    """Two seats, the boxes, a gesture, in any order, in a room that is furnished a little differently each time."""
    seats = [str(s) for s in rng.permutation(SEATS)[:2]]
    acts = [str(a) for a in rng.permutation([*seats, "boxes", "gesture"])]
    pieces = furnish(rng)
    tell = partial(_live, pieces=pieces, acts=acts, speed=0.8 + 0.3 * level)
    return Recipe(tell, Scene("living_room", pieces))


def furnish(rng: np.random.Generator) -> tuple[Piece, ...]:
    """The built-in living room or its mirror image, seats moved and turned a little, the boxes moved together."""
    flip = float(rng.choice([-1.0, 1.0]))
    boxes, pieces = rng.uniform(-SHIFT, SHIFT, 2), []
    for piece in get_scene("living_room").pieces:
        move, twist = rng.uniform(-SHIFT, SHIFT, 2), float(rng.uniform(-TWIST, TWIST))
        if piece.kind == "box":
            move, twist = boxes, 0.0
        x, y, _ = piece.pos
        pos = (round(x + float(move[0]), 3), round(flip * (y + float(move[1])), 3), 0.0)
        pieces.append(replace(piece, pos=pos, yaw=round(flip * (piece.yaw + twist), 3)))
    return tuple(pieces)


def _live(body: Body, rng: np.random.Generator, pieces: tuple[Piece, ...], acts: list[str], speed: float) -> Targets:
    story, named, style = Story(body).wait(0.4), {p.name: p for p in pieces}, draw_style(rng)
    for act in acts:
        if act == "gesture":
            kind, side = str(rng.choice(GESTURES)), int(rng.integers(2))
            story.add(gesture(partial(standing, body, story.stand), kind, side, 1.0, rng))
        elif act == "boxes":
            _boxes(story, [named["low"], named["high"]], int(rng.integers(2)), speed)
        else:
            _sit(body, story, named[act], speed, rng)
    return styled_hands(story.told(), style, rng)


def styled_hands(targets: Targets, style, rng: np.random.Generator) -> Targets:
    """In a style, but without looks about, which the acts have of their own."""
    return styled(targets, replace(style, looks=0.0, carry=0.0), rng)


def _sit(body: Body, story: Story, piece: Piece, speed: float, rng: np.random.Generator) -> None:
    seat = spot_on(piece, rng)
    down, up, seated = rng.uniform([1.7, 1.8, 6.0], [2.3, 2.4, 8.0])
    visit = Visit(float(down), float(seated), float(up), RESTS.get(piece.kind, RESTING))
    _go(story, tuple(seat.point(seat.hips + 0.5)), speed)
    story.sit(seat, visit, partial(stay, body=body, seat=seat, kind=piece.kind, visit=visit, hands=True, rng=rng))


def _boxes(story: Story, boxes: list[Piece], first: int, speed: float) -> None:
    """Over both boxes, low one first, away from the room's middle, then back around them."""
    low, high = boxes
    near = low.pos[0] + (low.size or (0.6,))[0] / 2
    start = (near + approach((low.size or (0, 0, 0.18))[2]), low.pos[1])
    _go(story, (start[0] + 0.7, start[1]), speed, np.pi)
    story.walk(start, speed=speed, final_yaw=np.pi)
    story.climb(tuple(boxes), first, 1.1)
    side = -np.sign(high.pos[1]) or 1.0
    x, y = story.pose[:2]
    for spot in ((x - 0.25, y + 1.2 * side), (x + 1.5, y + 1.25 * side)):
        _go(story, spot, speed)


def _go(story: Story, to: tuple[float, float], speed: float, final_yaw: float | None = None) -> None:
    """Turn towards a place if it lies behind, and walk there."""
    x, y, yaw = story.pose
    angle = (np.arctan2(to[1] - y, to[0] - x) - yaw + np.pi) % (2 * np.pi) - np.pi
    if abs(angle) > 0.9:
        story.turn(float(angle), 1.6)
    if np.hypot(to[0] - x, to[1] - y) > 0.3:
        story.walk(to, speed=speed, final_yaw=final_yaw)
