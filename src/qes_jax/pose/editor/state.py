"""The state of an edit, and all that changes it: pure functions from one state to the next."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.mirror import other_side
from qes_jax.pose.edit import Solver
from qes_jax.pose.editor.symmetry import Mirror, copy_side, flip, flip_target, symmetric
from qes_jax.pose.skeleton import joint_number
from qes_jax.pose.targets import KINDS, Target, Targets, make_targets

SLOTS = 24  # targets that one solve takes, mirror images among them. Our choice: both feet, hands, head, and to spare
ROUNDS = 3  # of making even and solving, after which both agree
NEAR = 0.01  # [m], [rad] a pose that is further off is solved for again, by waypoints and from bent limbs
WAYPOINTS = 3
BENT = 0.5  # [rad] of limbs that may have to fold: of straight ones no small bend changes the length
NQ = 39  # of the character alone
ARM = ("elbow", "wrist", "fingers")
PINNED = ("left_ankle", "right_ankle")  # so that a first drag does not carry the body away


class Tools(NamedTuple):
    """What changes poses."""

    solver: Solver
    plain: Solver  # without a trained prior
    mirror: Mirror
    hinges: tuple[str, ...]  # names, in the order of qpos[7:39]


@dataclass(frozen=True, eq=False)
class State:
    """A pose and what holds it."""

    qpos: np.ndarray  # (39,) float64, not to be written to
    goals: tuple[Target, ...] = ()  # of one kind each, at most one of a kind for a joint: what stays, pins above all
    symmetric: bool = False  # the other side does the same


def make_state(qpos: np.ndarray, goals: tuple[Target, ...] = (), symmetric: bool = False) -> State:
    """A state of a copy of qpos (39 or more), with a unit quaternion. Raises ValueError where it is no pose."""
    qpos = np.array(qpos, np.float64)[:NQ]
    if qpos.shape != (NQ,) or not np.isfinite(qpos).all() or not np.linalg.norm(qpos[3:7]) > 1e-6:
        raise ValueError(f"a pose has {NQ} finite numbers and a quaternion, got {qpos}")
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qpos.flags.writeable = False
    return State(qpos, goals, symmetric)


def rotation(quat: np.ndarray) -> Rotation:
    """Of a quaternion wxyz."""
    return Rotation.from_quat(quat, scalar_first=True)


def kind_of(target: Target) -> str:
    """The one kind of a goal: position, rotation or look_at."""
    given = [kind for kind in KINDS if getattr(target, kind) is not None]
    if len(given) != 1:
        raise ValueError(f"a goal of {target.joint} has one kind, got {given}")
    return given[0]


def find_goal(state: State, joint: str, kind: str) -> Target | None:
    """The goal of a kind that a joint has."""
    return next((g for g in state.goals if g.joint == joint and kind_of(g) == kind), None)


def with_goal(state: State, goal: Target) -> State:
    """The state with a goal, in place of the joint's other one of that kind; where it is symmetric on both sides.

    Raises ValueError at a bad goal.
    """
    make_targets([goal], 1)
    new = _both(state, goal)
    keys = {(g.joint, kind_of(g)) for g in new}
    return replace(state, goals=(*(g for g in state.goals if (g.joint, kind_of(g)) not in keys), *new))


def _both(state: State, goal: Target) -> list[Target]:
    """A goal, and where the state is symmetric its mirror image; of a joint in the middle what is symmetric."""
    if not state.symmetric:
        return [goal]
    twin = flip_target(state.qpos, goal)
    return [twin] if twin.joint == goal.joint else [goal, twin]


def release(state: State, joint: str) -> State:
    """The state without any goal of a joint; where it is symmetric, of the other side's neither."""
    gone = {joint, other_side(joint)} if state.symmetric else {joint}
    return replace(state, goals=tuple(g for g in state.goals if g.joint not in gone))


def pin(state: State, tools: Tools, joint: str, kinds: tuple[str, ...] = ("position", "rotation")) -> State:
    """The state with goals that hold a joint where it is."""
    points, quats = (np.asarray(x, np.float64) for x in tools.solver.points(jnp.asarray(state.qpos)))
    row = joint_number(joint)
    if "position" in kinds:
        state = with_goal(state, Target(joint, position=tuple(points[row])))
    if "rotation" in kinds:
        state = with_goal(state, Target(joint, rotation=tuple(quats[row])))
    return state


def is_pinned(state: State, joint: str) -> bool:
    """Whether a joint has any goal."""
    return any(g.joint == joint for g in state.goals)


def wanted(state: State, dragged: Target | None = None) -> list[Target]:
    """All targets of a solve: the goals, and what is being dragged in place of its like."""
    return list((state if dragged is None else with_goal(state, dragged)).goals)


def pack(targets: list[Target]) -> Targets:
    """Targets as the solver takes them. Raises ValueError where there are too many."""
    try:
        return make_targets(targets, SLOTS)
    except ValueError as error:
        raise ValueError(f"{error}: release some joint first" if "do not fit" in str(error) else error) from None


def solved(state: State, tools: Tools, dragged: Target | None = None) -> State:
    """The state with the pose that meets its goals and what is dragged, near to the state's own.

    While dragging, solve from the state at the drag's beginning: the result then depends on where the joint is, not on
    the way there.
    """
    targets = wanted(state, dragged)
    qpos = _met(state, tools, state.qpos, targets)
    if dragged is not None and dragged.position is not None:
        for other in (_approached, _unfolded):
            if _worst(tools, qpos, targets) <= NEAR:
                break
            tried = other(state, tools, dragged)
            qpos = tried if _worst(tools, tried, targets) < _worst(tools, qpos, targets) - NEAR else qpos
    goals = state.goals
    if dragged is not None and find_goal(state, dragged.joint, kind_of(dragged)):
        goals = with_goal(state, dragged).goals
    return make_state(qpos, goals, state.symmetric)


def _met(state: State, tools: Tools, qpos: np.ndarray, targets: list[Target]) -> np.ndarray:
    """The pose for targets. A symmetric one is made even and solved for again: the prior knows no symmetry.

    Even about the state's plane, in which the targets were mirrored: the pose's own has moved with its pelvis.
    """
    packed = pack(targets)
    qpos = _solve(tools.solver, qpos, packed)
    for _ in range(ROUNDS if state.symmetric else 0):
        even = symmetric(tools.mirror, qpos, state.qpos)
        qpos = symmetric(tools.mirror, _solve(tools.plain, even, packed), state.qpos)
    return qpos


def _approached(state: State, tools: Tools, dragged: Target) -> np.ndarray:
    """The pose by way of targets in between."""
    here = np.asarray(tools.solver.points(jnp.asarray(state.qpos))[0], np.float64)[joint_number(dragged.joint)]
    qpos = state.qpos
    for share in np.linspace(0, 1, WAYPOINTS + 1)[1:]:
        on_the_way = here + share * (np.asarray(dragged.position) - here)
        qpos = _met(state, tools, qpos, wanted(state, replace(dragged, position=tuple(on_the_way))))
    return qpos


def _unfolded(state: State, tools: Tools, dragged: Target) -> np.ndarray:
    """The pose solved for with the dragged limb bent beforehand, or with both legs where it is no limb's."""
    qpos, joint = state.qpos.copy(), dragged.joint
    side, _, part = joint.rpartition("_")
    names = [f"{side}_elbow"] if part in ARM else [f"{side}_knee"] if side else ["left_knee", "right_knee"]
    for row in (7 + tools.hinges.index(name) for name in names):
        qpos[row] = max(qpos[row], BENT)
    return _met(state, tools, qpos, wanted(state, dragged))


def _worst(tools: Tools, qpos: np.ndarray, targets: list[Target]) -> float:
    """The most that any target of full weight is off its tolerance."""
    full = [g for g in targets if g.weight >= 1]
    away = missing(make_state(qpos), tools, full)
    return max((a - g.tolerance for a, g in zip(away, full, strict=True)), default=0.0)


def _solve(solver: Solver, qpos: np.ndarray, targets: Targets) -> np.ndarray:
    return np.asarray(solver.solve(jnp.asarray(qpos, jnp.float32), targets), np.float64)


def missing(state: State, tools: Tools, targets: list[Target]) -> list[float]:
    """What each target is still off, [m] or [rad]."""
    away = tools.solver.missing(jnp.asarray(state.qpos, jnp.float32), pack(targets))
    return np.asarray(away)[: len(targets)].tolist()


def mirrored(state: State, tools: Tools) -> State:
    """The pose with left and right exchanged where it stands, its goals with it."""
    goals = tuple(flip_target(state.qpos, g) for g in state.goals)
    return make_state(flip(tools.mirror, state.qpos), goals, state.symmetric)


def sided(state: State, tools: Tools, side: str) -> State:
    """The pose whose other side does what `side` ("left" or "right") does. Goals of the other side are replaced."""
    kept = tuple(g for g in state.goals if g.joint.startswith(f"{side}_"))
    middle = tuple(g for g in state.goals if not g.joint.startswith(("left_", "right_")))
    goals = (*kept, *middle, *(flip_target(state.qpos, g) for g in kept))
    return make_state(copy_side(tools.mirror, state.qpos, side), goals, state.symmetric)


def set_symmetric(state: State, tools: Tools, on: bool) -> State:
    """Symmetry on or off. On makes the pose its own mirror image, and what is pinned is pinned where it then is."""
    if not on or state.symmetric:
        return replace(state, symmetric=on)
    even = make_state(symmetric(tools.mirror, state.qpos), (), True)
    for goal in state.goals:
        even = with_goal(even, goal) if goal.look_at is not None else pin(even, tools, goal.joint, (kind_of(goal),))
    return even


def carried(state: State, move: np.ndarray, yaw: float) -> State:
    """The whole pose with its goals, moved by `move` (3,) [m] and turned by `yaw` [rad] about the pelvis's vertical."""
    here, turn = np.array([*state.qpos[:2], 0.0]), Rotation.from_euler("z", yaw)

    def point(p) -> np.ndarray:
        return turn.apply(np.asarray(p, np.float64) - here) + here + move

    def quat(q) -> np.ndarray:
        return (turn * rotation(np.asarray(q))).as_quat(scalar_first=True)

    def goal(g: Target) -> Target:
        kind = kind_of(g)
        return replace(g, **{kind: tuple((quat if kind == "rotation" else point)(getattr(g, kind)))})

    qpos = np.concatenate([point(state.qpos[:3]), quat(state.qpos[3:7]), state.qpos[7:]])
    return make_state(qpos, tuple(map(goal, state.goals)), state.symmetric)
