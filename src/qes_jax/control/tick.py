"""One tick of control: from what a controller wants to the motors' torques."""

from typing import NamedTuple

import numpy as np

from qes_jax.control import constraints as con
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.features import Feature
from qes_jax.control.hierarchy import Hierarchy, Level, Solution, below_each_other
from qes_jax.control.objectives import smallest
from qes_jax.control.priority import Solver

SMALL_ACCELERATION, SMALL_FORCE = 1e-3, 1e-2  # weights in the last level, those of the 2012 implementation
SLOWED = 5.0  # [rad/s] a joint so fast is slowed by all its strength where there is no solution. Our choice


class Wish(NamedTuple):
    """What a controller wants at this instant."""

    contacts: con.Contacts  # corners that may push
    guarded: list[Feature]  # corners that may not sink into the floor, three components each
    levels: tuple[tuple[str, list[Level]], ...]  # name and objectives of each priority, the first most important


class Outcome(NamedTuple):
    """What came of it."""

    torque: np.ndarray  # (A,) [N m]
    problem: Hierarchy
    solution: Solution
    names: tuple[str, ...]  # of the levels


def hierarchy(d: Dynamics, wish: Wish) -> Hierarchy:
    """The problem of a tick: laws of motion, then the wishes.

    The last level also asks that all be small, so that it leaves nothing free.
    """
    nv, k = wish.contacts.forces.shape
    limits = [
        con.push_only(nv, k),
        *con.torque_limits(d, wish.contacts),
        con.no_penetration(wish.guarded, nv),
        con.joint_limits(d),
    ]
    *upper, (_, last) = wish.levels
    wanted = [*(parts for _, parts in upper), [*last, smallest(nv, SMALL_ACCELERATION, nv + k, SMALL_FORCE)]]
    levels = (Level(*below_each_other(parts, nv + k)) for parts in wanted)
    return Hierarchy((con.equation_of_motion(d, wish.contacts), *levels), *below_each_other(limits, nv + k))


def solve(d: Dynamics, wish: Wish, solver: Solver) -> Outcome:
    """Torques within their limits; where there is no solution those that slow the joints."""
    problem, (_, T, t) = hierarchy(d, wish), wish.contacts
    found = solver(problem)
    wanted = T @ found.x + t if found.feasible else damped(d)
    most = d.body.max_torque
    torque = np.minimum(np.maximum(wanted, -most), most)
    return Outcome(torque, problem, found, ("motion", *(name for name, _ in wish.levels)))


def damped(d: Dynamics) -> np.ndarray:
    """(A,) [N m] against the joints' speeds: their strength at SLOWED."""
    return -d.body.max_torque * d.qvel[d.body.dofs] / SLOWED
