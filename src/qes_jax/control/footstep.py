"""Where and when the swinging foot lands: beside the capture point, as far as that will have gone by then.

The capture point xi = c + c'/omega of an inverted pendulum runs away from the centre of pressure p,
xi' = omega (xi - p) (Pratt et al. 2006): what a push moves it by grows until the foot lands. A step that would have to
go farther than a leg reaches, or too far across the other foot, comes sooner (after Khadiv et al. 2016, who solve a
programme for place and time; here a handful of times is tried).
"""

from dataclasses import dataclass
from math import dist, exp

import numpy as np

from qes_jax.control.balance import sole_middle
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.walk import Step, capture_point

SHARES = [0.4 + 0.05 * i for i in range(13)]  # of a step's planned duration


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
    seen = np.array([
        capture_point(d, omega) - (y + v / omega), step.landing - pivot, step.capture - pivot,
        sole_middle(d, step.swing)[:2] - pivot,
    ])  # fmt: skip
    off, landing, capture, foot = (seen @ frame.T).tolist()
    reach, room = ((-c.behind, c.ahead), (c.apart, c.beside)), held.tolist()

    def choice(share: float) -> tuple[float, list[float], float]:
        """Cost, place and end of a step of this share of its duration."""
        end = step.start + share * step.path.duration
        early, left = step.planned_end - end, max(end - time, 0.0)
        cost, place = c.time_cost * early**2 / size, []
        sooner = 1.0 - exp(-omega * early)  # how much nearer the capture point is than at the end
        decayed, runaway = exp(-rate * left), exp(omega * left)
        for axis, (least, most) in enumerate(reach):
            small = min(max(off[axis], -room[axis]), room[axis])  # what the sole holds
            wanted = landing[axis] - sooner * capture[axis] + small * decayed + (off[axis] - small) * runaway
            at = min(max(wanted, size * least), size * most)
            cost += ((wanted - at) ** 2 + c.move_cost * (at - landing[axis]) ** 2) / size**2
            place.append(at)
        is_hasty = left**2 < 6.0 * dist(place, foot) / c.quickest
        return cost + 1e6 * (early + 1.0) * is_hasty, place, end

    _, place, step.end = min(map(choice, SHARES), key=lambda found: found[0])
    step.place = pivot + place @ frame
