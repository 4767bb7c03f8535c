"""Sitting down on chair, stool, high stool and couch and getting up again, with and without the hands."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, Body
from qes_jax.authoring.families.hands import PATHS, overlay
from qes_jax.authoring.furniture import RESTING, Seat, Visit, seat_of
from qes_jax.authoring.gestures import look
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.sitting import at, recline, support
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets
from qes_jax.model.scene import Piece, Scene

SEATED = ("talk", "watch", "scratch", "offer")  # gestures that suit a sitter
BESIDE = {"stool": (-0.03, 0.2, 0.0), "chair": (-0.03, 0.215, 0.0), "stool_high": (-0.02, 0.19, 0.0)}
CUSHION = (0.0, 0.27, 0.0)  # hands on the couch, from the seat below the hips [m]
RESTS = {"couch": 0.16, "chair": 0.26}  # [m] ankles ahead of hips that will move back: thighs then lie flat


def sit_stool(rng: np.random.Generator, level: float) -> Recipe:
    """On a stool."""
    return _recipe(rng, level, "stool")


def sit_stool_high(rng: np.random.Generator, level: float) -> Recipe:
    """Perching on a high stool."""
    return _recipe(rng, level, "stool_high")


def sit_chair(rng: np.random.Generator, level: float) -> Recipe:
    """On a chair, some lean against its back."""
    return _recipe(rng, level, "chair")


def sit_couch(rng: np.random.Generator, level: float) -> Recipe:
    """Deep into a couch and out of it with the hands."""
    return _recipe(rng, level, "couch")


def place(rng: np.random.Generator, kind: str) -> Piece:
    """A piece of furniture 1.8 to 2.6 m away, turned anyhow but with its front within reach."""
    bearing, distance = rng.uniform(-0.6, 0.6), rng.uniform(1.9, 2.6)
    pos = (float(distance * np.cos(bearing)), float(distance * np.sin(bearing)), 0.0)
    return Piece(kind, kind, pos=pos, yaw=float(np.pi + bearing + rng.uniform(-1.0, 1.0)))


def spot_on(piece: Piece, rng: np.random.Generator) -> Seat:
    """Where on the piece one sits down."""
    seat = seat_of(piece)
    if piece.kind == "couch":
        return at(seat, float(rng.choice([-0.38, 0.0, 0.38])), 0.2)
    return at(seat, hips=seat.depth - 0.07)


def _recipe(rng: np.random.Generator, level: float, kind: str) -> Recipe:
    piece = place(rng, kind)
    down, up, seated = rng.uniform([1.6, 1.7, 6.5], [2.4, 2.5, 10.0])
    visit = Visit(float(down), float(seated), float(up), RESTS.get(kind, RESTING))
    tell = partial(
        _sits, seat=spot_on(piece, rng), kind=kind, visit=visit,
        hands=level > 0.35 or kind == "couch", speed=float(rng.uniform(0.75, 1.1)), away=float(rng.uniform(-1.2, 1.2)),
    )  # fmt: skip
    return Recipe(tell, Scene(kind, (piece,)))


def _sits(
    body: Body, rng: np.random.Generator, seat: Seat, kind: str, visit: Visit, hands: bool, speed: float, away: float
) -> Targets:
    busy = partial(stay, body=body, seat=seat, kind=kind, visit=visit, hands=hands, rng=rng)
    story = Story(body).wait(0.4).walk(tuple(seat.point(seat.hips + 0.5)), speed=speed)
    story.sit(seat, visit, busy)
    x, y = seat.point(seat.hips + 0.5)
    yaw = seat.yaw + away
    return story.walk((x + 1.1 * np.cos(yaw), y + 1.1 * np.sin(yaw)), speed=speed).wait(0.4).told()


def stay(
    targets: Targets, body: Body, seat: Seat, kind: str, visit: Visit, hands: bool, rng: np.random.Generator
) -> Targets:
    """What a sitter does: settle, look about, a gesture, and the hands that help up."""
    free = visit.down + 2.2
    if kind == "couch":
        targets = recline(body, targets, seat, visit.down + 0.3, visit.rise - 1.0, 0.3, float(rng.uniform(0.24, 0.34)))
    elif kind == "chair" and rng.random() < 0.6:
        targets = recline(body, targets, seat, visit.down + 0.3, visit.rise - 1.0, 0.19, 0.1)
    seen = rng.uniform([-0.6, 0.0], [0.6, 0.3], (2, 2))
    targets = look(targets, [(free, tuple(seen[0])), (free + 1.6, tuple(seen[1]))])
    gesture, side = str(rng.choice(SEATED)), int(rng.integers(2))
    tempo = max(1.0, PATHS[gesture][-1][0] / max(visit.rise - 2.6 - free, 1.0))
    targets = overlay(targets, gesture, side, free + 0.4, tempo, 0.03 * rng.uniform(-1, 1, 3))
    if not hands:
        return targets
    place = CUSHION if kind == "couch" else BESIDE[kind]
    return support(targets, seat, visit, {LEFT: place, RIGHT: place})
