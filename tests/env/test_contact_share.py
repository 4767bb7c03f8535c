"""What the contact term weighs against the rest while one sits: the numbers of docs/claims.md."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.config import RewardConfig
from qes_jax.env.reward import contact_overlap

REWARD = RewardConfig()
SEAT, FLOOR = (0, 10, 14), (12, 13, 16, 17)  # links of the built-in clip `chair` while it sits: pelvis, thighs; feet


def seated(on_floor: float = 300.0, on_seat: float = 300.0) -> float:
    """The contact term with these forces [N] on each link that should touch floor and seat."""
    label, force = np.zeros((18, 2)), np.zeros((18, 2, 3))
    label[FLOOR, 0], label[SEAT, 1] = 1.0, 1.0
    force[FLOOR, 0, 2], force[SEAT, 1, 2] = on_floor, on_seat
    return REWARD.contact * float(contact_overlap(jnp.asarray(label), jnp.asarray(force)))


def displaced(by: float) -> float:
    """What the terms of position lose where all links and sensors are off by `by` [m]."""
    return sum(weight * (1.0 - np.exp(-k * by**2)) for weight, k in (REWARD.link_pos, REWARD.sensor_pos))


def test_contacts_are_a_seventh_of_the_reward() -> None:
    kernels = [v[0] for v in vars(REWARD).values() if isinstance(v, tuple)]
    assert sum(kernels) == pytest.approx(0.85)
    assert seated() == pytest.approx(0.15)


def test_missing_the_seat_loses_6_percent_of_a_frame_and_as_much_as_9_cm_do() -> None:
    lost = seated() - seated(on_seat=0.0)
    assert lost == pytest.approx(0.15 * (1 - 4.1 / 7.1), abs=1e-4)
    assert displaced(0.05) < 0.5 * lost < lost < displaced(0.09)


def test_a_seat_that_is_barely_touched_earns_nearly_as_much_as_one_sat_upon() -> None:
    assert seated() - seated(on_seat=20.0) < 0.002
