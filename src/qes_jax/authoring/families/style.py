"""How a person does whatever they do: arms that swing more or less or hold the controllers up, looks to the side."""

from dataclasses import dataclass

import numpy as np

from qes_jax.authoring.body import arm_pose
from qes_jax.authoring.gestures import look
from qes_jax.authoring.targets import RELAXED, Targets
from qes_jax.authoring.timeline import drift
from qes_jax.motion.clip import FPS

HELD_UP = RELAXED | {"flexion": 0.25, "abduction": 0.12, "twist": 0.1, "elbow": 1.45, "forearm": 0.0}  # [rad]


@dataclass(frozen=True)
class Style:
    """Our choice of what differs between people."""

    swing: float = 1.0  # of the usual swing of the arms
    carry: float = 0.0  # 0 arms hang, 1 forearms level, as VR users hold controllers
    looks: float = 0.0  # [rad] how far they look about


def draw_style(rng: np.random.Generator) -> Style:
    """One at random: a third of the people hold their controllers up."""
    carry = float(rng.uniform(0.5, 1.0)) if rng.random() < 0.35 else 0.0
    return Style(float(rng.uniform(0.55, 1.2)), carry, float(rng.choice([0.0, 0.3, 0.5])))


def styled(targets: Targets, style: Style, rng: np.random.Generator) -> Targets:
    """The same in this style."""
    low, up = (arm_pose(**pose) for pose in (RELAXED, HELD_UP))
    swing = targets.arms - low
    t = np.arange(targets.n_frames) / FPS
    still = 1.0 - 0.75 * style.carry
    wave = 0.06 * style.carry * np.stack([drift(t, rng, 2.5) for _ in range(2)], axis=-1)[..., None]
    arms = low + style.swing * still * swing + style.carry * (up - low) + wave * np.array([1.0, 0, 0, 1.0, 0, 0])
    targets = targets.but(arms=arms)
    if style.looks == 0.0 or t[-1] < 4.0:
        return targets
    moments = np.arange(1.5, t[-1] - 1.5, 2.2)
    keys = [(float(m), (style.looks * float(rng.uniform(-1, 1)), float(rng.uniform(0.0, 0.25)))) for m in moments]
    return look(targets, keys)
