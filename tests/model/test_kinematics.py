"""Forward kinematics in JAX against MuJoCo's, for the character, and for every kind of joint it promises to handle."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from qes_jax.model.kinematics import make_tree, poses
from qes_jax.model.scene import SCENES, Piece
from qes_jax.model.world import build_world

# Hinges and slides off their body's origin, fixed children, a mocap body with a child, a rest value, two free bodies.
ODD = """
<mujoco>
  <worldbody>
    <body name="shelf" mocap="true" pos="1 2 3" quat="1 1 0 0"><geom size=".1"/>
      <body pos="0 .3 0"><joint type="hinge" axis="0 1 1" pos=".1 .2 .3" ref="30"/><geom size=".1"/></body>
    </body>
    <body pos="0 1 0"><freejoint/><geom size=".1"/>
      <body pos=".2 0 .1" quat="1 0 1 0"><geom size=".1"/>
        <body pos="0 0 .5">
          <joint type="slide" axis="1 0 0"/><joint type="hinge" pos=".1 0 0"/><joint type="slide" axis="0 1 1"/>
          <geom size=".1"/>
        </body>
      </body>
    </body>
    <body pos="0 3 0"><joint type="hinge" axis="1 0 0" pos="0 0 -.4"/><geom size=".1"/></body>
    <body pos="0 5 0"><freejoint/><geom size=".1"/></body>
    <body pos="0 7 0"><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


def _furnished() -> mujoco.MjModel:
    return build_world(pieces=(Piece("step", "box", (0.5, 0.6, 0.2), (1, 0, 0), 0.3), *SCENES["chair"].pieces)).plain


@pytest.mark.parametrize("model", [_furnished, lambda: mujoco.MjModel.from_xml_string(ODD)], ids=["character", "odd"])
def test_agrees_with_mujoco(model) -> None:
    m = model()
    tree, data, rng = make_tree(m), mujoco.MjData(m), np.random.default_rng(0)
    solve = jax.jit(lambda *state: poses(tree, *state))
    for _ in range(3):
        data.qpos[:], data.qvel[:] = rng.normal(size=m.nq), rng.normal(size=m.nv)
        data.mocap_pos[:], data.mocap_quat[:] = rng.normal(size=(m.nmocap, 3)), rng.normal(size=(m.nmocap, 4))
        got = solve(*(jnp.asarray(x, jnp.float32) for x in (data.qpos, data.qvel, data.mocap_pos, data.mocap_quat)))
        mujoco.mj_forward(m, data)
        np.testing.assert_allclose(got.xpos, data.xpos[1:], atol=1e-5)
        np.testing.assert_allclose(got.xquat, data.xquat[1:], atol=1e-5)
        velocity = np.zeros((m.nbody - 1, 6))
        for body in range(1, m.nbody):
            mujoco.mj_objectVelocity(m, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity[body - 1], 0)
        np.testing.assert_allclose(got.angvel, velocity[:, :3], atol=2e-5)
        np.testing.assert_allclose(got.linvel, velocity[:, 3:], atol=5e-5)


def test_ball_joints_are_refused() -> None:
    xml = '<mujoco><worldbody><body><joint name="hip" type="ball"/><geom size=".1"/></body></worldbody></mujoco>'
    with pytest.raises(ValueError, match="hip"):
        make_tree(mujoco.MjModel.from_xml_string(xml))
