"""A recording made a motion of the character: inverse kinematics over the whole clip at once.

Levenberg-Marquardt on qpos of all frames together. Residuals: distances of the recorded points to the character's
anchors, joint limits, a weak pull to the rest pose where nothing is known, accelerations, overlap with floor and
pieces, and, once the points have told where a foot, a hand or a knee rests on something, that it touches there and
does not slide. In between, the pieces' joints follow the body (`giving`), and the anchors are moved to where on the
links the recorded points really are: skeletons differ in where they put joints. Weights are our choice, see `Weights`.
"""

import re
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy import special

from qes_jax.model.character import HEIGHT, CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.clip import FPS
from qes_jax.motion.formats.recording import Recording, resample, scaled
from qes_jax.motion.giving import follow_body
from qes_jax.motion.holds import Holds, find_holds, floating
from qes_jax.motion.normal import Normal
from qes_jax.motion.rig import Poses, Rig
from qes_jax.motion.subject import estimate_height, is_joint, moved_on
from qes_jax.motion.touch import Toucher

HEIGHTS = (1.4, 2.0)  # [m] of characters
REACH = 0.095  # [m] how far touches are looked for
SOFT, SOFT_ANGLE = 0.002, 0.01  # [m], [rad] over which overlap and joint limits set in
# [1/rad^2, 1/m^2] without it, what a linear model hardly feels, like a twist of the forearm, takes wild steps.
DAMPING = 4e-3
# How much of the way an anchor goes to where its point is seen: half of it where the character has that very joint, so
# that joints stay near joints and limbs keep their directions; nearly all where skeletons just put a point elsewhere.
OWN, OTHER = 0.5, 0.9
FARTHEST = 0.15  # [m] an anchor goes
MOST_LIFT = 0.05  # [m]


@dataclass(frozen=True)
class Weights:
    """Of residuals, relative to a point's distance in metres.

    Accelerations: a sway of about 8 Hz is smoothed by half, for (2 pi 8 Hz)^-2 = 4e-4 s^2, and a hinge moves what lies
    a quarter of a metre away.
    """

    root_acceleration: float = 3e-4  # [per m/s^2]
    turn_acceleration: float = 1e-4  # [per rad/s^2]
    rest: float = 0.015  # [per rad]
    limit: float = 3.0  # [per rad]
    overlap: float = 10.0
    hold: float = 3.0
    slide: float = 12.0  # the metres between two frames


@dataclass(frozen=True)
class Fit:
    """A motion of the character and what it was fitted to."""

    world: World
    scene: Scene
    recording: Recording  # at the clip's rate and the character's size
    qpos: np.ndarray  # (T, nq)
    offset: np.ndarray  # (P, 3) anchors in their links, as fitted [m]
    lift: np.ndarray  # (T,) [m] by which the recording was raised: its feet rarely stand where floor and pieces are
    speed: float  # [m/s] at which a walk on the spot was made to get along, 0 for other motions
    height: float  # [m] of the character
    scale: float  # by which the recording was made larger to fit a character of HEIGHTS


def retarget(recording: Recording, name: str, height: float | None = None, fps: float = FPS) -> Fit:
    """Fit a character of `height` [m], else of the subject's, to a recording, at `fps` [Hz]."""
    estimate = estimate_height(recording)
    scale = 1.0 if height else float(np.clip(estimate, *HEIGHTS) / estimate)
    height = round(height or estimate * scale, 3)
    recording, speed = moved_on(resample(scaled(recording, scale), fps))
    scene = Scene(name, recording.pieces)
    world = build_world(CharacterConfig(height=height), scene.pieces)
    solver = Solver(Rig(world), recording, height / HEIGHT)
    return Fit(world, scene, recording, solver.solve(), solver.offset, solver.lift, speed, height, scale)


class Solver:
    """The state of one fit: `qpos` (T, nq), `offset` (P, 3) and `lift`."""

    def __init__(self, rig: Rig, recording: Recording, size: float, weights: Weights = Weights()) -> None:
        self.rig, self.recording, self.weights, self.fps = rig, recording, weights, recording.fps
        anchors = recording.anchors
        self.body = np.array([rig.body(a.link) for a in anchors])
        self.weight = np.array([a.weight for a in anchors])
        self.nominal = np.array([a.offset for a in anchors]) * size
        self.offset = self.nominal.copy()
        self.give = np.array([[OWN if is_joint(a) else OTHER] for a in anchors])
        self.lift = np.zeros(len(recording.points))
        self.partner = _partners(recording.names)
        self.toucher = Toucher(rig, REACH)
        self.spheres = np.flatnonzero(self.toucher.mine & (rig.model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE))
        self.holds = Holds(np.zeros((len(recording.points), rig.model.ngeom), bool))
        self.qpos = _start(rig, recording, self.body, self.nominal)

    def solve(self) -> np.ndarray:
        """qpos (T, nq): first the points alone, then with contacts and fitted anchors."""
        self.iterate(4, rest=0.1, contacts=False)
        for _ in range(2):
            self.iterate(3, rest=self.weights.rest, contacts=False)
            self.fit_offsets()
        sunk = floating(self.rig, self.qpos, self.fps)
        self.lift = -sunk
        self.qpos[:, 2] -= sunk
        for _ in range(3):
            self.qpos = follow_body(self.rig, self.qpos, self.fps)
            self.holds = find_holds(self.rig, self.toucher, self.qpos, self.fps)
            self.iterate(3, rest=self.weights.rest, contacts=True)
            self.fit_offsets()
            self.fit_lift(-sunk)
        self.iterate(3, rest=self.weights.rest, contacts=True)
        return self._clipped(self.qpos)

    def iterate(self, times: int, rest: float, contacts: bool) -> None:
        """Levenberg-Marquardt steps, none larger than half a radian."""
        for _ in range(times):
            normal = Normal(len(self.qpos), self.rig.n)
            poses = self.rig.poses(self.qpos)
            self._add_points(normal, poses)
            self._add_posture(normal, rest)
            if contacts:
                self._add_contacts(normal, poses)
            step = normal.step(DAMPING)
            self.qpos = self.rig.move(self.qpos, np.clip(step, -0.5, 0.5))

    def fit_offsets(self) -> None:
        """Move each anchor towards its point's mean place in the link, alike left and right, for at most FARTHEST."""
        poses = self.rig.poses(self.qpos)
        apart = self._targets() - poses.xpos[:, self.body]
        seen = np.einsum("tpji,tpj->pi", poses.xmat[:, self.body], apart) / len(apart)
        seen = 0.5 * (seen + seen[self.partner] * [1.0, -1.0, 1.0])
        change = self.give * (seen - self.nominal)
        length = np.linalg.norm(change, axis=1, keepdims=True).clip(1e-9)
        self.offset = self.nominal + change * np.minimum(1.0, FARTHEST / length)

    def fit_lift(self, given: np.ndarray) -> None:
        """Raise the recording, beyond what is given (T,), to where contacts keep the body: by MOST_LIFT at most."""
        height = self.rig.poses(self.qpos).points(self.body, self.offset)[..., 2] - self.recording.points[..., 2]
        more = np.average((height - given[:, None]).mean(axis=0), weights=self.weight**2)
        self.lift = given + np.clip(more, -MOST_LIFT, MOST_LIFT)

    def _targets(self) -> np.ndarray:
        return raised(self.recording.points, self.lift)

    def _add_points(self, normal: Normal, poses: Poses) -> None:
        points = poses.points(self.body, self.offset)
        jac = self.rig.jacobian(poses, self.body, points) * self.weight[:, None, None]
        residual = (points - self._targets()) * self.weight[:, None]
        normal.add(jac.reshape(len(points), -1, self.rig.n), residual.reshape(len(points), -1))

    def _add_posture(self, normal: Normal, rest: float) -> None:
        w, layout = self.weights, self.rig.world.layout
        angles = self.qpos[:, layout.joint_qpos]
        low, high = layout.joint_range.T
        still = np.zeros((len(angles), 6))
        normal.add_values(np.c_[still, angles], np.r_[np.zeros(6), np.full(len(low), rest)])
        for sign, excess in ((1.0, angles - high), (-1.0, low - angles)):
            slope, outside = _soft_positive(excess, SOFT_ANGLE)
            normal.add_values(np.c_[still, sign * outside / slope], np.c_[still, w.limit * slope])
        weight = np.r_[np.full(3, w.root_acceleration), np.full(self.rig.n - 3, w.turn_acceleration)]
        normal.add_accelerations(self.rig.differences(self.qpos), weight * self.fps**2)

    def _add_contacts(self, normal: Normal, poses: Poses) -> None:
        w, touches = self.weights, self.toucher(self.qpos)
        jac = self.rig.jacobian(poses, touches.body, touches.point)
        away = np.einsum("tci,tcin->tcn", touches.normal, jac)
        held = self.holds.of(touches)
        normal.add(away * (w.hold * held)[..., None], np.where(held, w.hold * touches.dist, 0.0))
        slope, depth = _soft_positive(-touches.dist - 2 * SOFT, SOFT)  # so that what rests does not float
        normal.add(-away * (w.overlap * slope)[..., None], w.overlap * depth)
        self._add_slides(normal, poses)

    def _add_slides(self, normal: Normal, poses: Poses) -> None:
        centres = poses.geom_xpos[:, self.spheres]
        jac = self.rig.jacobian(poses, self.rig.model.geom_bodyid[self.spheres], centres)
        both = self.holds.resting[:-1, self.spheres] & self.holds.resting[1:, self.spheres]
        weight = np.repeat(self.weights.slide * both, 3, axis=1)
        change = np.diff(centres, axis=0).reshape(len(both), -1)
        normal.add_changes(jac.reshape(len(centres), -1, self.rig.n), change, weight)

    def _clipped(self, qpos: np.ndarray) -> np.ndarray:
        """Angles within their ranges, root quaternions of one sign from frame to frame."""
        layout, qpos = self.rig.world.layout, qpos.copy()
        qpos[:, layout.joint_qpos] = np.clip(qpos[:, layout.joint_qpos], *layout.joint_range.T)
        turned = np.sign(np.einsum("ti,ti->t", qpos[1:, 3:7], qpos[:-1, 3:7]))
        qpos[1:, 3:7] *= np.cumprod(turned)[:, None]
        return qpos


def raised(points: np.ndarray, lift: np.ndarray) -> np.ndarray:
    """Points (T, P, 3), those of each frame by its lift (T,) higher."""
    return points + lift[:, None, None] * np.array([0.0, 0.0, 1.0])


def _soft_positive(x: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Slope and value of a softened max(0, x): with a sharp one, constraints would switch on and off at every step."""
    slope = special.expit(x / width)
    return np.maximum(slope, 1e-12), width * np.logaddexp(0.0, x / width)


def _partners(names: tuple[str, ...]) -> list[int]:
    """Index of each point's mirror image by name: left for right, itself where there is none."""
    other = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
    swapped = [re.sub("left|right|Left|Right", lambda m: other[m[0]], name) for name in names]
    return [names.index(s) if s in names else i for i, s in enumerate(swapped)]


def _start(rig: Rig, recording: Recording, body: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """qpos (T, nq): the A-pose with bent elbows and knees, its trunk laid onto the recorded one (Kabsch 1976)."""
    layout = rig.world.layout
    qpos = layout.home_qpos.copy()
    for joint in ("left_elbow", "right_elbow", "left_knee", "right_knee"):
        qpos[layout.joint_qpos[layout.joints.index(joint)]] = 0.4
    links = [a.link.removeprefix("left_").removeprefix("right_") for a in recording.anchors]
    trunk = np.isin(links, ("pelvis", "thorax", "thigh", "upper_arm"))
    ours = rig.poses(qpos[None]).points(body[trunk], offset[trunk])[0]
    rows = np.tile(qpos, (len(recording.points), 1))
    for row, theirs in zip(rows, recording.points[:, trunk], strict=True):
        turn = _kabsch(ours - ours.mean(axis=0), theirs - theirs.mean(axis=0))
        row[:3] = theirs.mean(axis=0) + turn @ (qpos[:3] - ours.mean(axis=0))
        mujoco.mju_mat2Quat(row[3:7], turn.ravel())
    return rows


def _kabsch(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) that turns centred points a (P, 3) nearest to b."""
    u, _, vt = np.linalg.svd(b.T @ a)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
