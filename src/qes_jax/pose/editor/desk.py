"""An editing session without a window: what is selected, drags, history, key poses. A window calls it and draws it."""

from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from qes_jax.model.world import World
from qes_jax.pose.edit import Prior, make_solver
from qes_jax.pose.editor import state as edits
from qes_jax.pose.editor.history import History, do, redo, undo
from qes_jax.pose.editor.state import State, Tools
from qes_jax.pose.editor.symmetry import make_mirror, yaw_of
from qes_jax.pose.editor.timeline import Key, Timeline, with_key
from qes_jax.pose.figure import make_figure
from qes_jax.pose.prior import stay
from qes_jax.pose.skeleton import joint_number
from qes_jax.pose.targets import KINDS, Target

WHOLE = "root"  # the mark on the floor, by which the whole pose is carried
AHEAD = 1.0  # [m] at which a joint looks, unless it has a target


@dataclass(frozen=True, eq=False)
class Document:
    """All that undo brings back."""

    state: State
    keys: Timeline = ()


def make_tools(world: World, prior: Prior = stay) -> Tools:
    """Solvers for a world's character, which stands in it alone."""
    figure = make_figure(world)
    plain = make_solver(figure=figure)
    solver = plain if prior is stay else make_solver(prior, figure)
    return Tools(solver, plain, make_mirror(world), tuple(world.layout.joints))


class Desk:
    """One document that is being edited, and how. Not to be used from several threads at once."""

    def __init__(self, tools: Tools, qpos: np.ndarray, pinned: tuple[str, ...] = edits.PINNED):
        """Begin with qpos (39,), the joints `pinned` held where they are."""
        self.tools = tools
        self.start = edits.make_state(qpos)
        for joint in pinned:
            self.start = edits.pin(self.start, tools, joint)
        self.history = History(Document(self.start))
        self.joint = "left_wrist"
        self.kind = "position"
        self.weight, self.tolerance = 1.0, 0.0
        self.hold = False  # whether what is dragged stays pinned
        self.target: Target | None = None  # what is being dragged to
        self._live: State | None = None  # while dragging

    @property
    def state(self) -> State:
        """As it is to be seen: while dragging, what the drag has led to."""
        return self._live or self.history.now.state

    @property
    def base(self) -> State:
        """What a drag began with."""
        return self.history.now.state

    @property
    def keys(self) -> Timeline:
        """The key poses."""
        return self.history.now.keys

    def commit(self, state: State | None = None, keys: Timeline | None = None) -> None:
        """One step, which undo takes back."""
        now = self.history.now
        self.history = do(self.history, Document(state or now.state, now.keys if keys is None else keys))
        self._live = self.target = None

    def select(self, joint: str, kind: str | None = None) -> None:
        """Choose a joint and what is asked of it; its present goal's weight and tolerance are taken over."""
        number, kind = joint_number(joint), kind or self.kind
        if kind not in KINDS:
            raise ValueError(f"unknown kind {kind!r}: expected one of {', '.join(KINDS)}")
        self.joint, self.kind = joint, "position" if number == 0 else kind
        goal = edits.find_goal(self.state, joint, self.kind)
        self.weight, self.tolerance = (goal.weight, goal.tolerance) if goal else (1.0, 0.0)

    def grip(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and quaternion (4,) where the selected joint is to be taken hold of."""
        points, quats = (np.asarray(x, np.float64) for x in self.tools.solver.points(jnp.asarray(self.state.qpos)))
        row = joint_number(self.joint)
        if self.joint == WHOLE:
            return points[row], yaw_of(self.state.qpos[3:7]).as_quat(scalar_first=True)
        if self.kind != "look_at":
            return points[row], quats[row]
        goal = edits.find_goal(self.state, self.joint, "look_at")
        if goal is not None and goal.look_at is not None:
            return np.asarray(goal.look_at), quats[row]
        turn = edits.rotation(quats[row])
        return points[row] + AHEAD * turn.apply(self.tools.solver.figure.look[row]), quats[row]

    def drag(self, position: np.ndarray, quat: np.ndarray) -> None:
        """Bring the selected joint to a place; from `base`, so that nothing depends on the way. Then `drop`."""
        if self.joint == WHOLE:
            at, turn = self.base.qpos, edits.rotation(quat)
            yaw = (yaw_of(turn.as_quat(scalar_first=True)) * yaw_of(at[3:7]).inv()).as_euler("zyx")[0]
            self._live = edits.carried(self.base, np.asarray(position) - [at[0], at[1], 0.0], yaw)
            return
        value = tuple(float(x) for x in (quat if self.kind == "rotation" else position))
        self.target = Target(self.joint, weight=self.weight, tolerance=self.tolerance, **{self.kind: value})
        self._live = edits.solved(self.base, self.tools, self.target)

    def drop(self) -> None:
        """End a drag: its pose is kept, and with `hold` what it was dragged to."""
        if self._live is not None:
            held = edits.with_goal(self._live, self.target) if self.hold and self.target else self._live
            self.commit(held)

    def cancel(self) -> None:
        """End a drag as if it had not been."""
        self._live = self.target = None

    def enter(self, position: np.ndarray, quat: np.ndarray, again: bool = False) -> None:
        """A drag by numbers; `again`: in place of the step before, whose number was not yet typed to its end."""
        if again:
            self.undo()
        self.drag(position, quat)
        self.drop()

    def tune(self, weight: float, tolerance: float) -> None:
        """Weight and tolerance [m], [rad] of what is dragged; of the joint's goal too, which is solved for anew."""
        self.weight, self.tolerance = weight, tolerance
        goal = edits.find_goal(self.base, self.joint, self.kind)
        if goal is not None and (goal.weight, goal.tolerance) != (weight, tolerance):
            changed = edits.with_goal(self.base, replace(goal, weight=weight, tolerance=tolerance))
            self.commit(edits.solved(changed, self.tools))

    def pin(self) -> None:
        """Hold the selected joint: its position with `position`, its rotation too with `rotation`; or its look."""
        self._needs_joint("pinned")
        if self.kind == "look_at":
            goal = Target(self.joint, look_at=tuple(self.grip()[0]), weight=self.weight, tolerance=self.tolerance)
            self.commit(edits.with_goal(self.base, goal))
        else:
            kinds = ("position",) if self.kind == "position" else ("position", "rotation")
            self.commit(edits.pin(self.base, self.tools, self.joint, kinds))

    def release(self) -> None:
        """Let the selected joint go."""
        self._needs_joint("released")
        self.commit(edits.release(self.base, self.joint))

    def _needs_joint(self, word: str) -> None:
        if self.joint == WHOLE:
            raise ValueError(f"the whole pose cannot be {word}: choose a joint")

    def undo(self) -> None:
        """A step back."""
        self.cancel()
        self.history = undo(self.history)

    def redo(self) -> None:
        """A step that was undone."""
        self.cancel()
        self.history = redo(self.history)

    def reset(self) -> None:
        """The start pose; the key poses stay."""
        self.commit(self.start)

    def take(self, qpos: np.ndarray, here: bool = False) -> None:
        """Take over the pose qpos (39,); with `here`, where the present one stands and as it faces.

        What was pinned is pinned where it is now.
        """
        state = edits.make_state(qpos)
        if here:
            now = self.base.qpos
            yaw = (yaw_of(now[3:7]) * yaw_of(state.qpos[3:7]).inv()).as_euler("zyx")[0]
            state = edits.carried(state, np.array([*(now[:2] - state.qpos[:2]), 0.0]), yaw)
        for goal in self.base.goals:
            if goal.look_at is None:
                state = edits.pin(state, self.tools, goal.joint, (edits.kind_of(goal),))
        self.commit(state)

    def mirror(self) -> None:
        """Exchange left and right."""
        self.commit(edits.mirrored(self.base, self.tools))

    def copy_side(self, side: str) -> None:
        """The other side does what `side` does."""
        self.commit(edits.sided(self.base, self.tools, side))

    def lift(self, height: float) -> None:
        """Carry the whole pose up by a height [m], or down."""
        self.commit(edits.carried(self.base, np.array([0.0, 0.0, height]), 0.0))

    def symmetry(self, on: bool) -> None:
        """Symmetry mode on or off."""
        if on != self.base.symmetric:
            self.commit(edits.set_symmetric(self.base, self.tools, on))

    def add_key(self, time: float) -> None:
        """The present pose as key pose at a time [s]."""
        self.commit(keys=with_key(self.keys, Key(time, self.state.qpos)))
