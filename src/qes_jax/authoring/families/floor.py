"""To the floor and up again: kneeling, on all fours, sitting, lying."""

from functools import partial

import numpy as np

from qes_jax.authoring.body import LEFT, SIGN, Body
from qes_jax.authoring.floor import TUCK, Foot, Hand, Key, hands_beside, play
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets

KNEELING = 0.46  # [m] height of the hips above a knee on the floor
BACK = 0.8  # [m] that a foot steps back to kneel
SEATED = -0.54  # [m] hips behind the ankles of one who sits on the floor, knees up
PRESSED = 0.02  # [m] that a body would sink in where inverse kinematics did not keep it out
BY_THE_FEET, BEHIND = (-0.24, 0.29), (SEATED - 0.16, 0.26)  # [m] forward and out, hands of one who sits on the floor
DEEP = Key(1.4, (-0.12, 0.42), 0.35, 0.75, 0.1, com=(0.045, 0.0), arms=(0.9, 0.5))  # a deep squat


def floor_kneel(rng: np.random.Generator, level: float) -> Recipe:
    """Down on one knee, on both, perhaps back on the heels, up over one knee with the hands on it."""
    return _recipe(rng, level, ["heels"] if level > 0.5 else ["kneel"])


def floor_fours(rng: np.random.Generator, level: float) -> Recipe:
    """Down on the knees and on all fours, and up again with the hands."""
    return _recipe(rng, level, ["fours", "heels"] if level > 0.5 else ["fours"])


def floor_sit(rng: np.random.Generator, level: float) -> Recipe:
    """Sit down on the floor with the hands behind, get up with their help."""
    return _seated(rng, level, lie=False)


def floor_lie(rng: np.random.Generator, level: float) -> Recipe:
    """Sit down on the floor, lie back, sit up, get up."""
    return _seated(rng, level, lie=True)


def _recipe(rng: np.random.Generator, level: float, acts: list[str]) -> Recipe:
    tell = partial(
        _knees, acts=acts, front=int(rng.integers(2)), pace=float(rng.uniform(0.9, 1.25)),
        stay=float(rng.uniform(0.6, 2.5)), hand=bool(rng.random() < 0.7),
    )  # fmt: skip
    return Recipe(tell)


def _seated(rng: np.random.Generator, level: float, lie: bool) -> Recipe:
    pace, stay = rng.uniform([0.9, 1.5], [1.25, 3.0])
    return Recipe(partial(_sits, lie=lie, pace=float(pace), stay=float(stay)))


def _knees(
    body: Body, rng: np.random.Generator, acts: list[str], front: int, pace: float, stay: float, hand: bool
) -> Targets:
    keys, hands = knees(acts, front, pace, stay, hand)
    story = Story(body).wait(0.5)
    return story.add(play(body, story.stand, keys, hands)).wait(0.5).told()


def _sits(body: Body, rng: np.random.Generator, lie: bool, pace: float, stay: float) -> Targets:
    keys, hands = seated(body, lie, pace, stay)
    story = Story(body).wait(0.5)
    return story.add(play(body, story.stand, keys, hands)).wait(0.5).told()


def knees(acts: list[str], front: int, pace: float, stay: float, hand: bool) -> tuple[list[Key], list[Hand]]:
    """Keys of kneeling down, `acts` on the knees (kneel, heels, fours) and getting up; the `front` leg stays ahead."""
    left = 0.07 * SIGN[front]

    def feet(ahead: Foot, behind: Foot) -> tuple[Foot, Foot]:
        return (ahead, behind) if front == LEFT else (behind, ahead)

    flat, toes, tucked = Foot(), Foot(BACK, 0.6), Foot(BACK, TUCK)
    lunge = Key(0.9, (-0.18, 0.75), 0.06, 0.2, 0.1, feet(flat, toes), (-0.16, 0.6 * left), (0.1, 0.4))
    half = Key(1.0, (-0.24, KNEELING), 0.0, 0.12, 0.1, feet(flat, tucked), (-0.2, 0.2 * left), (0.2, 0.6))
    one, side = (-0.29, -2.1 * left), (0.15, 0.5)  # over the knee that is down
    ready = Key(0.7, (-0.24, KNEELING), 0.0, 0.03, 0.1, feet(flat, tucked), one, side)
    landed = Key(0.9, (-0.25, KNEELING), 0.0, 0.03, 0.05, (tucked, tucked), one, side)
    kneel = Key(0.5, (-0.26, KNEELING), 0.0, 0.05, 0.05, (tucked, tucked), (-0.33, 0.0), (0.1, 0.4))
    poses = {
        "kneel": Key(stay, (-0.26, KNEELING), 0.0, 0.03, 0.0, (tucked, tucked), (-0.33, 0.0), (0.1, 0.4)),
        "heels": Key(1.2, (-0.58, 0.3), 0.2, 0.28, 0.1, (tucked, tucked), (-0.46, 0.0), (0.4, 0.5)),
        "fours": Key(1.5, (-0.3, 0.45), 1.05, 1.42, 0.8, (tucked, tucked), None, (1.2, 0.2)),
    }
    keys = [
        Key(0.8 / pace, (0.03, 0.9), 0.0, 0.06, 0.1, com=(0.05, left)),
        _paced(lunge, pace),
        *(_paced(key, pace) for key in (half, ready, landed, kneel)),
    ]
    hands: list[Hand] = []
    for act in acts:
        pose = poses[act]
        keys.append(_paced(pose, pace))
        now = sum(key.seconds for key in keys)
        if act == "fours":
            hands += hands_beside(now - 0.8, now + stay + 0.3, 0.2, 0.2)
        keys.append(_longer(pose, stay))
        keys.append(_paced(kneel, pace))
    keys += [_paced(key, pace) for key in (landed, _longer(ready, 1.0), _longer(half, 0.6))]
    now = sum(key.seconds for key in keys)
    if hand:
        hands.append(Hand(front, now - 0.1, now + 1.0, (0.1, 1.2 * left, 0.52), firm=False))
    keys += [
        Key(0.9 / pace, (-0.13, 0.7), 0.12, 0.5, 0.2, feet(flat, Foot(BACK, 0.9)), (-0.08, 0.8 * left), (0.3, 0.5)),
        Key(0.9 / pace, (0.0, 0.88), 0.03, 0.12, 0.1, com=(0.03, 0.8 * left)),
        Key(0.8 / pace, (0.055, 0.92), com=(0.055, 0.0)),
    ]
    return keys, hands


def seated(body: Body, lie: bool, pace: float, stay: float) -> tuple[list[Key], list[Hand]]:
    """Keys of sitting down on the floor, lying back if `lie`, and getting up over a deep squat."""

    def on_floor(pitch: float) -> tuple[float, float]:
        return SEATED, float(body.seat_depth(pitch)) - PRESSED

    low = Key(0.9, (-0.22, 0.25), 0.2, 0.72, 0.2, com=(0.0, 0.0), arms=(0.1, 0.2))
    sag = Key(0.6, (-0.4, 0.13), 0.0, 0.5, 0.1, arms=(0.0, 0.2))
    down_on = Key(0.45, on_floor(-0.25), -0.25, 0.2, 0.1, arms=(0.0, 0.2))
    sit = Key(0.9, on_floor(-0.35), -0.35, -0.12, 0.0, arms=(-0.1, 0.3))
    half = Key(1.1, on_floor(-0.9), -0.9, -0.8, -0.3, arms=(0.0, 0.3))
    flat = Key(2.0, on_floor(-1.55), -1.55, -1.55, -1.7, arms=(0.1, 0.2))
    keys = [*(_paced(key, pace) for key in (DEEP, low, sag, down_on, sit)), _longer(sit, stay)]
    down = keys[0].seconds + keys[1].seconds
    now = down + keys[2].seconds + keys[3].seconds
    hands = hands_beside(down - 0.25, now + 0.2, *BY_THE_FEET)
    if lie:
        hands += hands_beside(now + 1.0, now + 0.9 / pace + stay + 0.3, *BEHIND)
        back, up = [_paced(half, pace), _paced(flat, 1.3 * pace)], [_paced(half, pace), _paced(sit, pace)]
        keys += [*back, _longer(flat, stay), *up]
        end = sum(key.seconds for key in keys)
        hands += hands_beside(now + 0.9 / pace + stay + 1.3, end - 2.0 / pace, SEATED, 0.3)
        hands += hands_beside(end - 0.9 / pace, end + 0.0, *BEHIND)
    elif stay > 1.8:
        hands += hands_beside(now + 1.3, now + stay + 0.5, SEATED + 0.28, 0.15, 0.42)
    now = sum(key.seconds for key in keys)
    keys += [_longer(down_on, 1.0), _longer(sag, 0.45 / pace), _paced(low, pace), _paced(DEEP, 1.3 * pace)]
    hands += hands_beside(now + 0.7, now + 1.0 + 1.2 / pace, *BY_THE_FEET)
    keys.append(Key(1.5 / pace, (0.055, 0.92), com=(0.055, 0.0)))
    return keys, hands


def _paced(key: Key, pace: float) -> Key:
    return _longer(key, key.seconds / pace)


def _longer(key: Key, seconds: float) -> Key:
    return Key(seconds, key.pelvis, key.pitch, key.trunk, key.head, key.feet, key.com, key.arms)
