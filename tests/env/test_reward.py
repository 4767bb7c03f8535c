"""The reward's terms against closed forms."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.config import RewardConfig, ablate
from qes_jax.env.reward import SMOOTH, TOUCH, contact_overlap, names, reward_terms
from qes_jax.env.state import Body
from qes_jax.rotations import axis_angle, quat_mul
from tests.env.standing import CONFIG, ROWS

FRAME = 20
IMITATION = ("joint_pos", "joint_vel", "link_pos", "link_vel", "sensor_pos", "sensor_rot", "root_rot")


@pytest.fixture
def body(lab) -> Body:
    """A body that is exactly the reference at FRAME."""
    ref, layout = lab.params.reference, lab.world.layout
    return Body(
        pos=ref.link_pos[FRAME], quat=ref.link_quat[FRAME], linvel=ref.link_vel[FRAME], angvel=ref.link_angvel[FRAME],
        joint_pos=ref.qpos[FRAME][layout.joint_qpos], joint_vel=ref.qvel[FRAME][layout.joint_dofs],
        sensor_pos=ref.sensor_pos[FRAME], sensor_quat=ref.sensor_quat[FRAME], sensor_vel=jnp.zeros((3, 3)),
    )  # fmt: skip


def terms_of(lab, body: Body, force=None, action=None, last=None, config: RewardConfig = CONFIG.reward):
    ref, layout = lab.params.reference, lab.world.layout
    force = 1e3 * ref.contact[FRAME][..., None] * jnp.array([0.0, 0.0, 1.0]) if force is None else force
    still = jnp.zeros(32)
    action, last = still if action is None else action, still if last is None else last
    return reward_terms(config, layout, ref, jnp.int32(FRAME), body, force, action, last)


def test_on_the_reference_every_term_is_its_weight(lab, body):
    terms = terms_of(lab, body)
    assert list(terms) == names()
    for name in IMITATION:
        assert terms[name] == pytest.approx(getattr(CONFIG.reward, name)[0], rel=1e-5), name
    assert terms["contact"] == pytest.approx(CONFIG.reward.contact, rel=1e-5)
    assert terms["effort"] == terms["jerk"] == 0.0


def turned(quat, angle: float):
    return quat_mul(axis_angle(jnp.array([0.6, 0.0, 0.8]), jnp.float32(angle)), quat)


# One error each, and the mean square that follows from it.
ERRORS = {
    "joint_pos": (lambda b: b._replace(joint_pos=b.joint_pos.at[3].add(0.8)), 0.8**2 / 32),
    "joint_vel": (lambda b: b._replace(joint_vel=b.joint_vel + 1.5), 1.5**2),
    "link_pos": (lambda b: b._replace(pos=b.pos + jnp.array([0.1, 0.0, 0.2])), 0.1**2 + 0.2**2),
    "link_vel": (lambda b: b._replace(linvel=b.linvel.at[4].add(jnp.array([0.0, 3.0, 0.0]))), 3.0**2 / 18),
    "sensor_pos": (lambda b: b._replace(sensor_pos=b.sensor_pos.at[1, 2].add(0.3)), 0.3**2 / 3),
    "sensor_rot": (lambda b: b._replace(sensor_quat=-turned(b.sensor_quat, 0.5)), 0.5**2),
    "root_rot": (lambda b: b._replace(quat=b.quat.at[0].set(turned(b.quat[0], 0.7))), 0.7**2),
}


@pytest.mark.parametrize("name", IMITATION)
def test_kernel_is_w_exp_minus_k_mean_square(lab, body, name):
    change, square = ERRORS[name]
    terms, exact = terms_of(lab, change(body)), terms_of(lab, body)
    w, k = getattr(CONFIG.reward, name)
    assert terms[name] == pytest.approx(w * np.exp(-k * square), rel=1e-4)
    for other in set(terms) - {name}:
        assert terms[other] == exact[other]


def test_regularisation_is_the_negative_sum_of_squares(lab, body):
    action, last = jnp.linspace(-1.0, 1.0, 32), jnp.full(32, 0.25)
    terms = terms_of(lab, body, action=action, last=last)
    assert terms["effort"] == pytest.approx(-CONFIG.reward.effort * np.sum(np.linspace(-1, 1, 32) ** 2), rel=1e-5)
    assert terms["jerk"] == pytest.approx(-CONFIG.reward.jerk * np.sum((np.linspace(-1, 1, 32) - 0.25) ** 2), rel=1e-5)


def test_without_contact_reward_forces_do_not_matter(lab, body):
    config = ablate(CONFIG, "no_contact").reward
    force = jnp.full((18, 3, 3), 100.0)
    assert terms_of(lab, body, force, config=config)["contact"] == 0.0
    assert replace(config, contact=CONFIG.reward.contact) == CONFIG.reward


def forces(*touching: tuple[int, int], newton: float = 1e4):
    force = np.zeros((4, 2, 3), np.float32)
    for link, thing in touching:
        force[link, thing] = 0.6 * newton, 0.0, 0.8 * newton
    return jnp.asarray(force)


def labels(*touching: tuple[int, int]):
    label = np.zeros((4, 2), np.float32)
    for link, thing in touching:
        label[link, thing] = 1.0
    return jnp.asarray(label)


@pytest.mark.parametrize(
    ("label", "force", "both", "either"),
    [
        (labels(), forces(), 0, 0),  # in the air, as it should be
        (labels((0, 0), (1, 1)), forces((0, 0), (1, 1)), 2, 2),
        (labels((0, 0)), forces((1, 0)), 0, 2),  # the wrong link
        (labels((0, 0)), forces((0, 1)), 0, 2),  # the wrong object
        (labels((0, 0), (1, 0)), forces((0, 0)), 1, 2),  # one is missing
        (labels((0, 0)), forces((0, 0), (2, 1), (3, 1)), 1, 3),  # two are false
        (labels(), forces((2, 0)), 0, 1),
        (labels((0, 0)), forces(), 0, 1),
        (labels((0, 0)), forces((0, 0), newton=TOUCH), 1 - np.exp(-1), 1),  # a light touch counts in part
    ],
)
def test_contact_overlap_is_intersection_over_union(label, force, both, either):
    assert contact_overlap(label, force) == pytest.approx((both + SMOOTH) / (either + SMOOTH), abs=1e-4)


def test_reward_is_the_sum_of_its_terms(lab):
    state = lab.moving(3)
    _, seen = lab.step(lab.params, state, jnp.full((ROWS, 32), 0.3))
    terms = [seen.metrics[f"reward/{name}"] for name in names()]
    assert len(terms) == sum(k.startswith("reward/") for k in seen.metrics)
    np.testing.assert_allclose(seen.reward, np.sum(terms, axis=0), rtol=1e-5)
    assert np.ptp(seen.reward) > 0.01
