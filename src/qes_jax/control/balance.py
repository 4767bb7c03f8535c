"""The balance controller: contact first, then the centre of mass, then angular momentum and pose."""

from dataclasses import dataclass

import numpy as np

from qes_jax.control import constraints as con
from qes_jax.control import contact, features
from qes_jax.control.body import Body
from qes_jax.control.dynamics import Dynamics, once
from qes_jax.control.hierarchy import Level
from qes_jax.control.objectives import critical, momentum, setpoint
from qes_jax.control.tick import Wish


@dataclass(frozen=True)
class BalanceConfig:
    """Gains [1/s2], [1/s]; weights within a level. Starting values are the 2012 implementation's, changed by trial."""

    height: float = 0.97  # of the centre of mass in the rest pose (whose knees are bent a little)
    com_kp: float = 60.0
    height_kp: float = 100.0
    momentum_kp: float = 8.0
    momentum_weight: float = 1.0
    pose_kp: float = 80.0
    pose_weight: float = 1.0


CONFIG = BalanceConfig()


class Balance:
    """Stands where it stands. A controller is called once a tick with the dynamics and the time [s]."""

    def __init__(self, body: Body, config: BalanceConfig = CONFIG) -> None:
        self.body, self.config = body, config

    def __call__(self, d: Dynamics, time: float) -> Wish:
        held = [level for f in self.body.feet for level in contact.whole(d, f)]
        levels = (("contact", held), ("com", self._com(d)), ("rest", self._rest(d)))
        return Wish(con.contacts(d, [con.every_corner(d, f) for f in self.body.feet]), [], levels)

    def _com(self, d: Dynamics) -> list[Level]:
        """Over the centroid of the soles, at the height wanted."""
        c = self.config
        com = features.weight(d)
        middle = np.mean([sole_middle(d, i) for i in (0, 1)], axis=0)
        goal = np.array([*middle[:2], c.height * self.body.com_height])
        kp = np.array([c.com_kp, c.com_kp, c.height_kp])
        return [setpoint(com, goal, kp, critical(1.0) * np.sqrt(kp))]

    def _rest(self, d: Dynamics) -> list[Level]:
        """Damp rotation; return to the rest pose."""
        c = self.config
        L = scaled_momentum(d)
        return [momentum(L, 0.0, c.momentum_kp, c.momentum_weight), pose(d, c.pose_kp, c.pose_weight)]


def sole_middle(d: Dynamics, side: int) -> np.ndarray:
    """(3,) the middle of a foot's heel and ball corners [m]."""
    foot = d.body.feet[side]
    return d.data.geom_xpos[foot.corners[foot.sole]].mean(axis=0)


@once
def scaled_momentum(d: Dynamics) -> features.Feature:
    """Angular momentum over mass and squared height of the centre of mass [1/s], of the size of an angular velocity."""
    scale = 1.0 / (d.body.mass * (0.5 * d.body.com_height) ** 2)
    return features.Feature(*(scale * x for x in features.angular_momentum(d)))


def pose(
    d: Dynamics, kp: float, weight: np.ndarray | float = 1.0, rest: np.ndarray | None = None,
    velocity: np.ndarray | float = 0.0,
) -> Level:  # fmt: skip
    """All joints to the rest pose, or to `rest` (A,) [rad] that moves at `velocity` (A,), critically damped."""
    rest = d.body.rest[d.body.qpos] if rest is None else rest
    return setpoint(features.joints(d), rest, kp, critical(kp), weight, velocity)
