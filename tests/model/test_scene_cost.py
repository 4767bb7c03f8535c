"""What scenes cost MJX: candidate contacts in closed form, and the living room's time to compile."""

import time

import pytest

from qes_jax.model.mjx_engine import MjxEngine
from qes_jax.model.scene import SCENES
from qes_jax.model.scene_cost import compile_seconds, cost
from qes_jax.model.world import build_world

BODY = 15 + 2 * 11  # a sphere meets floor or box in one point, a capsule in two


@pytest.mark.parametrize("name", SCENES)
def test_candidates_are_those_of_floor_and_boxes(name: str) -> None:
    found = cost(SCENES[name])
    assert found.candidates == BODY * (1 + found.geoms)
    assert found.pieces == len(SCENES[name].pieces)
    assert found.joints == (name in ("office_chair", "tilting_chair"))


def test_the_living_room_keeps_its_candidates_few() -> None:
    assert cost(SCENES["living_room"]).candidates == 370


@pytest.mark.slow
def test_the_living_room_compiles_in_about_a_minute() -> None:
    """Processor time of all threads, which a busy machine changes little: 54 s were measured, so less on two cores."""
    engine = MjxEngine(build_world(pieces=SCENES["living_room"].pieces))
    began = time.process_time()
    compile_seconds(engine)
    assert time.process_time() - began < 75
