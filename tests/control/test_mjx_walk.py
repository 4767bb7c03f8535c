"""One walking second on MJX: from the C engine's states, under the walk's own torques, in pieces of a tenth of it.

In one piece the two drift apart, as any two simulations of a walk without feedback do. All in float64, so that what
differs is the engines, not the rounding.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mujoco import mjx

from qes_jax.control.body import Body, load_body
from qes_jax.control.fast import Fast
from qes_jax.control.simulate import Stage
from qes_jax.control.stride import Walker

PIECES, TICKS, SUBSTEPS = 10, 25, 2


def _walking_second(body: Body) -> dict[str, np.ndarray]:
    """State before and control of every tick (PIECES * TICKS + 1, ...), after the first steps."""
    stage = Stage(body, Walker(body), Fast(), substeps=SUBSTEPS)
    stage.run(1.5)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("qpos", "qvel", "qacc_warmstart", "ctrl")}
    for _ in range(PIECES * TICKS + 1):
        for name in ("qpos", "qvel", "qacc_warmstart"):
            rows[name].append(getattr(stage.data, name).copy())
        stage.tick()
        rows["ctrl"].append(stage.data.ctrl.copy())
    assert not stage.record.fell
    return {name: np.array(values) for name, values in rows.items()}


@pytest.mark.slow
def test_mjx_follows_a_walking_second() -> None:
    body = load_body()
    rows = _walking_second(body)
    with jax.enable_x64(True):
        model = mjx.put_model(body.m)
        start = mjx.make_data(body.m)

        def piece(qpos, qvel, warmstart, ctrl):
            def tick(data, u):
                data = data.replace(ctrl=u)
                data = jax.lax.scan(lambda s, _: (mjx.step(model, s), None), data, length=SUBSTEPS)[0]
                return data, (data.qpos, data.qvel)

            data = start.replace(qpos=qpos, qvel=qvel, qacc_warmstart=warmstart)
            return jax.lax.scan(tick, data, ctrl)[1]

        quick = jax.jit(jax.vmap(piece), compiler_options={"xla_backend_optimization_level": 0})
        cut = {name: jnp.asarray(values[:-1]).reshape(PIECES, TICKS, -1) for name, values in rows.items()}
        found = quick(cut["qpos"][:, 0], cut["qvel"][:, 0], cut["qacc_warmstart"][:, 0], cut["ctrl"])
        qpos, qvel = (np.asarray(x).reshape(PIECES * TICKS, -1) for x in found)
    off = np.abs(qpos - rows["qpos"][1:]).max(axis=1).reshape(PIECES, TICKS)
    speed = np.abs(qvel - rows["qvel"][1:]).max(axis=1).reshape(PIECES, TICKS)
    assert off[:, 0].max() < 1e-5 and speed[:, 0].max() < 1e-3  # one tick; measured were 8e-8 and 4e-5
    assert off.max() < 1e-4 and speed.max() < 1e-2  # a piece; measured were 2e-7 and 3e-6, in nine pieces of ten 1e-14
