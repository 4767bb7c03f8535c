"""Tells a motion as a chain of actions, each beginning where the last one left the feet."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qes_jax.authoring.body import Body
from qes_jax.authoring.footsteps import Step, take
from qes_jax.authoring.furniture import TUCKED, Seat, Visit, seat_stand, sit
from qes_jax.authoring.gait import Guide, follow, guide_stand, stand_pose, turn_guide, walk_guide
from qes_jax.authoring.guides import back_guide, pace_guide, side_steps
from qes_jax.authoring.steps import climb, levels_of
from qes_jax.authoring.targets import Targets, join, standing
from qes_jax.authoring.timeline import Angles, n_frames
from qes_jax.model.scene import Piece


class Story:
    """A person who starts at a pose x, y [m], yaw [rad] and does one thing after the other."""

    def __init__(self, body: Body, start: tuple[float, float, float] = (0.0, 0.0, 0.0), joints: int = 0) -> None:
        """`joints` is how many the scene's objects have."""
        self.body = body
        self.stand = guide_stand(np.array(start))
        self.joints = np.zeros(joints)
        self._parts: list[Targets] = []

    @property
    def pose(self) -> np.ndarray:
        """(3,) where the person stands and faces."""
        return stand_pose(self.stand)

    def told(self) -> Targets:
        """All of it."""
        return join(self._parts)

    def add(self, targets: Targets, column: int = 0) -> "Story":
        """Something done on the spot, that ends in easy standing again. What it does to one joint goes to a column."""
        objects = np.tile(self.joints, (targets.n_frames, 1))
        if targets.objects.shape[1]:
            objects[:, column] = targets.objects[:, 0]
        self.joints = objects[-1]
        self._parts.append(targets.but(objects=objects))
        return self

    def wait(self, seconds: float) -> "Story":
        """Stand."""
        return self.add(standing(self.body, self.stand, n_frames(seconds)))

    def walk(self, *points: tuple[float, float], speed: float = 1.1, final_yaw: float | None = None) -> "Story":
        """Walk through points [m] at a speed [m/s]."""
        return self._go(walk_guide(self.pose, list(points), speed, final_yaw))

    def pace(self, points: list[tuple[float, float]], speeds: list[float]) -> "Story":
        """Walk through points [m], towards each at its own speed [m/s]."""
        return self._go(pace_guide(self.pose, points, speeds))

    def back(self, length: float, bend: float = 0.0, speed: float = 0.6) -> "Story":
        """Walk backwards by a length [m], turning by `bend` [rad]."""
        return self._go(back_guide(self.pose, length, bend, speed))

    def aside(self, count: float, stride: float = 0.3, pace: float = 1.0) -> "Story":
        """Side steps, to the left where `count` is positive."""
        return self.step(side_steps(self.stand, count, stride, pace))

    def step(self, steps: Sequence[Step], lean: Angles = 0.0) -> "Story":
        """Single steps to given places."""
        targets, self.stand = take(self.body, self.stand, steps, lean)
        return self.add(targets)

    def turn(self, angle: float, rate: float = 1.2, to: tuple[float, float] | None = None) -> "Story":
        """Turn on the spot by an angle [rad], left positive."""
        return self._go(turn_guide(self.pose, angle, to, rate))

    def sit(self, seat: Seat, visit: Visit, busy=lambda targets: targets, turned=0.0, column: int = 0) -> "Story":
        """Turn the back to the seat, sit, do something (`busy` changes the targets), stand up.

        A seat that was `turned` meanwhile [rad] is left where it then faces; its joint's column is `column`.
        """
        angle = (seat.yaw - self.pose[2] + np.pi) % (2 * np.pi) - np.pi
        self.turn(angle, to=tuple(seat.point(seat.hips + TUCKED)))
        self.stand = seat_stand(seat)
        self.add(busy(sit(self.body, seat, visit)), column)
        self.stand = seat_stand(replace(seat, yaw=seat.yaw + turned))
        return self

    def climb(self, pieces: tuple[Piece, ...], first: int, pace: float) -> "Story":
        """Step up and down the boxes ahead."""
        targets, self.stand = climb(self.body, self.stand, levels_of(pieces, self.pose), first, pace)
        return self.add(targets)

    def _go(self, guide: Guide) -> "Story":
        targets, self.stand = follow(self.body, self.stand, guide)
        return self.add(targets)
