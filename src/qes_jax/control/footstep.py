"""Where and when the swinging foot lands: beside the capture point, as far as that will have gone by then.

The capture point xi = c + c'/omega of an inverted pendulum runs away from the centre of pressure p,
xi' = omega (xi - p) (Pratt et al. 2006): what a push moves it by grows until the foot lands. A step that would have to
go farther than a leg reaches, or too far across the other foot, comes sooner (after Khadiv et al. 2016, who solve a
programme for place and time; here a handful of times is tried).
"""

from dataclasses import dataclass

import numpy as np

from qes_jax.control.balance import sole_middle
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.walk import Step, capture_point

SHARES = np.linspace(0.4, 1.0, 13)  # of a step's planned duration


@dataclass(frozen=True)
class FootstepConfig:
    """Lengths [m] are the human's and scale with the body. Our choice, by trial."""

    ahead: float = 0.75  # a foot lands at most so far ahead of the other
    behind: float = 0.45
    beside: float = 0.55
    apart: float = -0.08  # least distance of the feet's tracks; negative: a foot may land across the other
    held: float = 0.4  # share of the sole that is counted on to hold the capture point
    move_cost: float = 0.06  # [1/m2] of a landing that is moved; one that is out of reach costs 1
    time_cost: float = 0.015  # [1/s2] of a step that is hurried
    quickest: float = 80.0  # [m/s2] a foot may be asked for


FOOTSTEPS = FootstepConfig()


def foresee(
    d: Dynamics, step: Step, time: float, omega: float, size: float, held: np.ndarray, rate: float,
    c: FootstepConfig = FOOTSTEPS,
) -> None:  # fmt: skip
    """Set `step.place` and `step.end`. Pairs are (forward, out), out to the swinging foot's side, from the stance foot.

    omega [1/s] of the pendulum; size of the body, the human's is 1; held (2,) [m] as far as the sole holds the capture
    point, and brings it back to its path at `rate` [1/s].
    """
    out, pivot = (1.0 if step.swing == 0 else -1.0), step.path.pivot
    frame = np.array([step.forward, [-out * step.forward[1], out * step.forward[0]]])
    y, v, _ = step.path(time - step.start)
    off = frame @ (capture_point(d, omega) - (y + v / omega))
    landing, capture = frame @ (step.landing - pivot), frame @ (step.capture - pivot)
    ends = step.start + SHARES * step.path.duration
    early, left = step.planned_end - ends, np.maximum(ends - time, 0.0)
    sooner = (1.0 - np.exp(-omega * early))[:, None] * capture  # how much nearer the capture point is than at the end
    places = landing - sooner + grown(off, held, left[:, None], omega, rate)
    least, most = size * np.array([[-c.behind, c.apart], [c.ahead, c.beside]])
    reached = places.clip(least, most)
    cost = (squared(places - reached) + c.move_cost * squared(reached - landing)) / size**2
    cost += c.time_cost * early**2 / size
    way = np.sqrt(squared(reached - frame @ (sole_middle(d, step.swing)[:2] - pivot)))
    hasty = left < np.sqrt(6.0 * way / c.quickest)
    best = int(np.argmin(cost + 1e6 * (early + 1.0) * hasty))
    step.place, step.end = pivot + reached[best] @ frame, float(ends[best])


def squared(x: np.ndarray) -> np.ndarray:
    """(S,) squared lengths of x (S, 2)."""
    return x[:, 0] ** 2 + x[:, 1] ** 2


def grown(off: np.ndarray, held: np.ndarray, left: np.ndarray, omega: float, rate: float) -> np.ndarray:
    """(S, 2) what a distance `off` (2,) becomes in `left` (S, 1) [s]: what the sole holds decays, the rest grows."""
    small = off.clip(-held, held)
    return small * np.exp(-rate * left) + (off - small) * np.exp(omega * left)
