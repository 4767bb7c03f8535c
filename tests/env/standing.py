"""A small task for tests: clips made here, with their labels written by hand, of a body beside a box and on a chair."""


import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import EnvConfig
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import Piece, Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import FPS, Clip
from qes_jax.motion.library import pack, world_for

BOX = Piece("box", "box", (0.6, 0.6, 0.2), (1.0, 0.2, 0.0))
SCENE = Scene("yard", (BOX, Piece("chair", "chair", None, (-1.2, 0.0, 0.0))))
FEET = tuple((f"{side}_{part}", "floor") for side in ("left", "right") for part in ("foot", "toes"))
SEAT = tuple((link, "chair") for link in ("pelvis", "left_thigh", "right_thigh"))
CONFIG = EnvConfig()
STANDING, SEATED = 120, 60  # [frames]
ROWS = 16  # environments of `Lab`
QUICK = {"xla_backend_optimization_level": 0}  # compile fast, run slowly


def standing_clip(frames: int = STANDING, scene: Scene = SCENE) -> Clip:
    """A person who stands still and sways an arm."""
    world = _world(scene)
    qpos = np.tile(world.layout.home_qpos, (frames, 1))
    qpos[:, 16] = 0.5 + 0.4 * np.sin(np.arange(frames) / 10)  # left elbow
    return _clip("standing", qpos, scene, world, FEET)


def seated_clip(frames: int = SEATED) -> Clip:
    """A person who sits still on SCENE's chair, feet on the floor."""
    world = _world(SCENE)
    pose = world.layout.home_qpos.copy()
    pose[:3] = -1.2, 0.0, 0.514  # pelvis and thighs 1 mm inside the seat
    for name in ("hip_pitch", "knee"):
        for side in ("left", "right"):
            pose[world.layout.joint_qpos[world.layout.joints.index(f"{side}_{name}")]] = np.pi / 2
    return _clip("seated", np.tile(pose, (frames, 1)), SCENE, world, (*FEET, *SEAT))


def standing_task(
    config: EnvConfig = CONFIG, engine: str = "mujoco", actuation: str = "torque"
) -> tuple[Task, EnvParams]:
    """The task on the standing clip."""
    clips = [standing_clip()]
    task = Task(config, make_engine(world_for(clips, actuation, config.sim_dt), engine))
    return task, task.params(pack(clips, task.engine.world))


class Lab:
    """The task on both clips, compiled once for ROWS environments. `traces` counts compilations of `step`."""

    def __init__(self) -> None:
        self.clips = [standing_clip(), seated_clip()]
        self.world = world_for(self.clips)
        self.task = Task(CONFIG, make_engine(self.world, "mujoco"))
        self.params = self.task.params(pack(self.clips, self.world))
        self.traces = 0
        self.reset = quick(jax.vmap(self.task.reset, (None, 0)))
        self.step = quick(jax.vmap(self._step, (None, 0, 0)))
        self.observe = quick(jax.vmap(self.task.observe, (None, 0)))

    def _step(self, params, state, action):
        self.traces += 1
        return self.task.step(params, state, action)

    def start(self, seed: int = 0, params: EnvParams | None = None):
        """Fresh states, ROWS of them."""
        return self.reset(params or self.params, jax.random.split(jax.random.PRNGKey(seed), ROWS))[0]

    def start_from(self, first: int, last: int, seed: int = 0):
        """Fresh states at frames from first to before last."""
        weight = jnp.zeros_like(self.params.start_weight).at[first:last].set(1.0)
        return self.start(seed, self.params._replace(start_weight=weight))

    def moving(self, seed: int = 0):
        """States some frames after a start, under random torques."""
        state, rng = self.start(seed), np.random.default_rng(seed)
        for _ in range(5):
            state, _ = self.step(self.params, state, jnp.asarray(rng.uniform(-0.5, 0.5, (ROWS, 32)), jnp.float32))
        return state


def quick(f):
    """jit for tests: compiles fast, runs slowly."""
    return jax.jit(f, compiler_options=QUICK)


def row(tree, index: int):
    """One environment of a batch."""
    return jax.tree.map(lambda x: x[index], tree)


def _world(scene: Scene) -> World:
    return build_world(pieces=scene.pieces)


def _clip(name: str, qpos: np.ndarray, scene: Scene, world: World, touching: tuple[tuple[str, str], ...]) -> Clip:
    layout = world.layout
    contact = np.zeros((len(qpos), len(layout.links), len(layout.objects)), np.uint8)
    for link, thing in touching:
        if thing in layout.objects:
            contact[:, layout.links.index(link), layout.objects.index(thing)] = 1
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, qpos)
    return Clip(
        name, "made in a test", "none", FPS, world.character.height, scene,
        qpos=qpos.astype(np.float32), qvel=velocities(world.plain, qpos, FPS).astype(np.float32),
        link_pos=link_pos, link_quat=link_quat, contact=contact, sensor_pos=sensor_pos, sensor_quat=sensor_quat,
    )  # fmt: skip
