"""How like a person's a motion is, beside how near it is: feet that slip, links that tremble, steps, flight, power.

One row a control step, of the simulated body and of the user's by the same rules, all of them our choice:

- slip: horizontal speed of the lowest point of each foot link that touches the floor, their mean. It is NaN where none
  touches. Heel and toes that roll over a point at rest do not slip.
- power and high: the links' velocities, as differences of their positions over one frame; the mean over links of
  |v|^2, and of the same after a Butterworth high-pass of order 4 at FAST. sum(high) / sum(power) is the share of the
  motion that no person makes on purpose: those of walking end at 6 Hz (Winter 2009).
- steps: feet set down, on whatever it is, after at least SWING frames of that foot in the air.
- flying: 1 where no foot touches anything.
- watt: sum over joints of |torque x speed|, of the simulated body alone.

A simulated link touches where the force is above TOUCHED, the user's where it is labelled so. Labels are only put on
links slower than 0.8 m/s: the user's slip is bounded by that.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.signal import butter, sosfilt_zi

from qes_jax.env.state import Body, EnvState, body_of
from qes_jax.model.world import Layout, World
from qes_jax.motion.library import Reference
from qes_jax.rotations import rotate

FAST = 6.0  # [Hz]
SWING = 3  # [frames] in the air before setting down is a step, lest a foot that chatters walks
TOUCHED = 5.0  # [N] a force that counts as a contact wherever it is shown or counted, as the contact reward has it
FEET = (("left_foot", "left_toes"), ("right_foot", "right_toes"))

Array = Any  # JAX's while it is simulated, then NumPy's


class Motion(NamedTuple):
    """One step's row of one body, each ()."""

    slip: Array  # [m/s], NaN where no foot touches the floor
    power: Array  # [m^2/s^2]
    high: Array  # [m^2/s^2] the part above FAST
    steps: Array  # 0, 1 or 2 feet set down
    flying: Array  # 0 or 1


class Likeness(NamedTuple):
    """One step's row, float16 (three digits). The user's is NaN where only the sensors were recorded."""

    own: Motion
    user: Motion
    watt: Array  # [W]


class Memory(NamedTuple):
    """What the next row needs of one body."""

    pos: jax.Array  # (L, 3) [m] of the links
    filtered: jax.Array  # (2, 2, L, 3) the high-pass filter's state: sections, delays
    air: jax.Array  # (2,) int32 [frames] since the left, the right foot touched


class Pose(NamedTuple):
    """What is measured of one body at one frame: L links, O objects."""

    pos: jax.Array  # (L, 3) [m]
    quat: jax.Array  # (L, 4)
    linvel: jax.Array  # (L, 3) [m/s]
    angvel: jax.Array  # (L, 3) [rad/s]
    touch: jax.Array  # (L, O) bool


@dataclass(frozen=True)
class Gauge:
    """What the measures need of the character, resolved once. F foot links of S points each."""

    links: np.ndarray  # (2, F) of each foot
    points: np.ndarray  # (2, F, S, 3) centres of the balls of its sole, in the link's frame [m]
    radius: np.ndarray  # (2, F, S) [m]
    sos: np.ndarray  # (2, 6) the high-pass filter's sections
    dt: float  # [s] a control step


def make_gauge(world: World, dt: float) -> Gauge:
    """The soles of a world's character, and the filter at steps of dt [s]."""
    m, layout = world.plain, world.layout
    links = np.array([[layout.links.index(n) for n in foot] for foot in FEET])
    bodies = layout.link_ids[links] + 1
    balls = [[np.flatnonzero((m.geom_bodyid == b) & (m.geom_contype == 1)) for b in foot] for foot in bodies]
    most = max(len(b) for foot in balls for b in foot)
    ids = np.array([[np.resize(b, most) for b in foot] for foot in balls])  # a ball counted twice changes nothing
    sos = butter(4, FAST, "highpass", fs=1.0 / dt, output="sos")
    return Gauge(links, m.geom_pos[ids], m.geom_size[ids, 0], sos, dt)


def own_pose(layout: Layout, state: EnvState) -> Pose:
    """The simulated body's."""
    body = body_of(layout, state.physics, state.derived)
    return Pose(*body[:4], jnp.linalg.norm(state.derived.force, axis=-1) > TOUCHED)


def user_pose(reference: Reference, frame: jax.Array) -> Pose:
    """The user's, as recorded and labelled."""
    fields = (reference.link_pos, reference.link_quat, reference.link_vel, reference.link_angvel)
    return Pose(*(x[frame] for x in fields), reference.contact[frame] > 0.5)


def remember(gauge: Gauge, pose: Pose) -> Memory:
    """At an episode's start. The filter has seen this velocity for ever."""
    at_rest = jnp.asarray(sosfilt_zi(gauge.sos), jnp.float32)
    return Memory(pose.pos, at_rest[:, :, None, None] * pose.linvel, jnp.zeros(2, jnp.int32))


def measure(gauge: Gauge, memory: Memory, pose: Pose) -> tuple[Memory, Motion]:
    """One step's row of a body that has come to `pose`."""
    velocity = (pose.pos - memory.pos) / gauge.dt
    filtered, high = high_pass(gauge.sos, memory.filtered, velocity)
    down = pose.touch[gauge.links].any(axis=(1, 2))
    steps = jnp.sum(down & (memory.air >= SWING))
    row = Motion(slip(gauge, pose), _power(velocity), _power(high), steps, ~down.any())
    return Memory(pose.pos, filtered, jnp.where(down, 0, memory.air + 1)), row


def _power(velocity: jax.Array) -> jax.Array:
    return jnp.mean(jnp.sum(velocity**2, axis=-1))


def slip(gauge: Gauge, pose: Pose) -> jax.Array:
    """() [m/s] v + w x r at the lowest point of each foot link on the floor, horizontally; NaN where there is none."""
    pos, quat, linvel, angvel = (x[gauge.links] for x in pose[:4])
    offset = rotate(quat[:, :, None], jnp.asarray(gauge.points, jnp.float32))
    radius = jnp.asarray(gauge.radius, jnp.float32)
    lowest = jnp.argmin((pos[:, :, None] + offset)[..., 2] - radius, axis=-1, keepdims=True)
    arm = jnp.take_along_axis(offset, lowest[..., None], axis=2)[:, :, 0]
    arm = arm.at[..., 2].add(-jnp.take_along_axis(radius, lowest, axis=2)[..., 0])
    speed = jnp.linalg.norm((linvel + jnp.cross(angvel, arm))[..., :2], axis=-1)
    on_floor = pose.touch[gauge.links, 0]
    mean = jnp.sum(jnp.where(on_floor, speed, 0.0)) / jnp.maximum(jnp.sum(on_floor), 1)
    return jnp.where(on_floor.any(), mean, jnp.nan)


def high_pass(sos: np.ndarray, state: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """One sample x through second-order sections (S, 6), transposed direct form II, as `scipy.signal.sosfilt` has it.

    state (S, 2, *x.shape). Returns the next state and the output.
    """
    after = []
    for (b0, b1, b2, _, a1, a2), (z0, z1) in zip(sos.tolist(), state, strict=True):
        y = b0 * x + z0
        after.append(jnp.stack([b1 * x - a1 * y + z1, b2 * x - a2 * y]))
        x = y
    return jnp.stack(after), x


def mechanical_power(world: World, ctrl: jax.Array, before: Body, after: Body) -> jax.Array:
    """() [W] sum over joints of |torque x speed| where motors hold ctrl (J,) over a step, at its mean angle and speed.

    The torque is MuJoCo's: gear (gain ctrl + bias), cut at the motor's limit.
    """
    m = world.plain
    angle, speed = (before.joint_pos + after.joint_pos) / 2, (before.joint_vel + after.joint_vel) / 2
    gear, bias = m.actuator_gear[:, 0], m.actuator_biasprm
    force = m.actuator_gainprm[:, 0] * ctrl + bias[:, 0] + gear * (bias[:, 1] * angle + bias[:, 2] * speed)
    low, high = np.where(m.actuator_forcelimited[:, None], m.actuator_forcerange, [-np.inf, np.inf]).T
    return jnp.sum(jnp.abs(gear * jnp.clip(force, low, high) * speed))
