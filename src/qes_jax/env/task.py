"""The environment: `reset` and `step` of one environment, pure, for jit and vmap, the same on every engine."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from qes_jax.env.config import EnvConfig, RandomizeConfig
from qes_jax.env.curriculum import n_bins
from qes_jax.env.device import lose_and_find
from qes_jax.env.observe import clip_bounds, observe
from qes_jax.env.reset import reset, reset_at
from qes_jax.env.reward import reward_terms
from qes_jax.env.state import Body, EnvParams, EnvState, body_of
from qes_jax.env.terminate import Failure, failure
from qes_jax.model.engine import Engine
from qes_jax.motion.library import Reference
from qes_jax.types import Obs, Timestep


@dataclass(frozen=True)
class Task:
    """The headset-tracking task on one engine. `reset` and `step` are what PPO takes."""

    config: EnvConfig
    engine: Engine

    @property
    def n_actions(self) -> int:
        """Length of an action."""
        return len(self.engine.world.layout.joints)

    def params(self, reference: Reference) -> EnvParams:
        """Parameters that start anywhere, evenly, but in a clip's last second (or its last half, if that is less)."""
        first, last = jax.vmap(lambda f: clip_bounds(reference, f))(jnp.arange(reference.qpos.shape[0]))
        left = last - jnp.arange(reference.qpos.shape[0])
        layout = self.engine.world.layout
        mean = reference.qpos[:, layout.joint_qpos].mean(axis=0)
        difficulty = jnp.zeros((2, n_bins(reference.qpos.shape[0])), jnp.float32)
        may_start = left >= jnp.minimum(36, (last - first + 1) // 2)
        return EnvParams(reference, may_start.astype(jnp.float32), difficulty, mean)

    def reset(self, params: EnvParams, key: jax.Array) -> tuple[EnvState, Obs]:
        """A new episode. Consumes key."""
        state = reset(self.config, self.engine, params, key)
        return state, self.observe(params, state)

    def reset_at(self, params: EnvParams, frame: jax.Array, key: jax.Array) -> tuple[EnvState, Obs]:
        """A new episode that starts at `frame`. Consumes key."""
        state = reset_at(self.config, self.engine, params, frame, *jax.random.split(key))
        return state, self.observe(params, state)

    def observe(self, params: EnvParams, state: EnvState) -> Obs:
        """What policy and critic see of a state."""
        return observe(self.config, self.engine.world.layout, params, state)

    def step(self, params: EnvParams, state: EnvState, action: jax.Array) -> tuple[EnvState, Timestep]:
        """One control step: action (J,), cut to [-1, 1] for torques. The user goes one frame on."""
        action = self._clip(action)
        k_next, k_push, k_device = jax.random.split(state.key, 3)
        pushed = push(self.config.randomize, state, k_push)
        physics, derived = self.engine.step(pushed, self._ctrl(params, action), self.config.n_substeps)
        frame = state.frame + 1
        device = lose_and_find(self.config.randomize, self.config.ctrl_dt, state.device, frame, k_device)
        after = state._replace(
            physics=physics, derived=derived, frame=frame, age=state.age + 1, action=action, device=device, key=k_next
        )
        body = body_of(self.engine.world.layout, physics, derived)
        layout, ref = self.engine.world.layout, params.reference
        terms = reward_terms(self.config.reward, layout, ref, frame, body, derived.force, action, state.action)
        failed = failure(self.config, params.reference, frame, body, physics.qvel)
        _, last = clip_bounds(params.reference, frame)
        terminated = failed.sensor | failed.height | failed.speed
        truncated = ~terminated & ((frame >= last) | (after.age >= self.config.max_frames))
        timestep = Timestep(
            obs=self.observe(params, after),
            reward=sum(terms.values(), start=jnp.zeros(())),
            terminated=terminated.astype(jnp.float32),
            truncated=truncated.astype(jnp.float32),
            metrics=_metrics(terms, failed, params, after, body),
        )
        return after, timestep

    def _clip(self, action: jax.Array) -> jax.Array:
        bound = 1.0 if self.engine.world.character.actuation == "torque" else 3.0
        return jnp.clip(action, -bound, bound)

    def _ctrl(self, params: EnvParams, action: jax.Array) -> jax.Array:
        """Motor controls: the action itself (its motor's gear is the maximum torque), or PD targets [rad]."""
        if self.engine.world.character.actuation == "torque":
            return action
        bounds = jnp.asarray(self.engine.world.layout.joint_range, jnp.float32)
        return jnp.clip(params.mean_pose + self.config.pd_scale * action, bounds[:, 0], bounds[:, 1])


def push(config: RandomizeConfig, state: EnvState, key: jax.Array):
    """The physics state with now and then a sudden horizontal change of the root's velocity. Consumes key."""
    if config.push == 0.0:
        return state.physics
    k_when, k_how = jax.random.split(key)
    kick = jax.random.uniform(k_how, (2,), minval=-config.push, maxval=config.push)
    now = jax.random.uniform(k_when) < 1.0 / config.push_every
    qvel = state.physics.qvel.at[:2].add(jnp.where(now, kick, 0.0))
    return state.physics._replace(qvel=qvel)


def _metrics(terms: dict, failed: Failure, params: EnvParams, state: EnvState, body: Body) -> dict[str, jax.Array]:
    """Logged by name; those under "trace/" are kept step by step for start sampling."""
    off = jnp.linalg.norm(params.reference.sensor_pos[state.frame] - body.sensor_pos, axis=-1)
    return {
        **{f"reward/{name}": value for name, value in terms.items()},
        **{f"fail/{name}": value.astype(jnp.float32) for name, value in failed._asdict().items()},
        "error/headset": off[0],
        "error/controllers": off[1:].mean(),
        "trace/finite": jnp.isfinite(sum(terms.values())),
        "trace/frame": state.frame,
        "trace/start": state.start,
        "trace/age": state.age,
    }
