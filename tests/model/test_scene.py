"""Scenes: a body comes to rest in each, furniture stays where it is put, bad pieces are refused, pieces are shared."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qes_jax.model.character import CharacterConfig
from qes_jax.model.engine import initial_state
from qes_jax.model.mujoco_engine import MujocoEngine
from qes_jax.model.scene import SCENES, Piece, Scene, furniture, get_scene, union
from qes_jax.model.world import build_world
from tests.model.figures import bent, seated

PD = CharacterConfig(actuation="pd")


@pytest.mark.parametrize("kind", furniture())
def test_a_body_let_down_on_a_seat_comes_to_rest_on_it(kind: str) -> None:
    """Thighs and pelvis carry it, feet help; furniture does not move, and the body does not sink into it."""
    world = build_world(PD, (Piece("seat", kind),))
    engine = MujocoEngine(world)
    qpos = seated(world)
    seat = world.plain.geom("seat/seat")
    top = seat.pos[2] + seat.size[2]
    qpos[2] = top + 0.095  # thighs, 7 cm thick, 2.5 cm above the seat
    step = jax.jit(lambda s, u: engine.step(s, u, 3))
    state, ctrl = initial_state(world, qpos), jnp.asarray(qpos[world.layout.joint_qpos], jnp.float32)
    for _ in range(3 * 36):
        state, derived = step(state, ctrl)
    assert jnp.abs(state.qvel).max() < 0.15
    up = np.asarray(derived.force[..., 2].sum(axis=0))
    assert up.sum() == pytest.approx(70 * 9.81, rel=0.05)
    assert up[1] > 0.5 * up.sum()
    assert top + 0.06 < state.qpos[2] < top + 0.12
    np.testing.assert_array_equal(state.mocap_pos, np.zeros((1, 3)))
    np.testing.assert_array_equal(derived.xpos[world.layout.piece_ids[0]], np.zeros(3))


@pytest.mark.parametrize("piece", SCENES["boxes"].pieces, ids=lambda p: p.name)
def test_a_body_let_down_on_a_box_stands_on_it(piece: Piece) -> None:
    world = build_world(PD, (piece,))
    engine = MujocoEngine(world)
    qpos = bent(world)
    qpos[:3] += [piece.pos[0], piece.pos[1], piece.size[2] + 0.01]
    step = jax.jit(lambda s, u: engine.step(s, u, 3))
    state, ctrl = initial_state(world, qpos), jnp.asarray(qpos[world.layout.joint_qpos], jnp.float32)
    for _ in range(18):
        state, derived = step(state, ctrl)
    up = np.asarray(derived.force[..., 2].sum(axis=0))
    assert state.qpos[2] == pytest.approx(qpos[2] - 0.01, abs=0.03)
    assert up[0] == 0
    assert up[1] == pytest.approx(70 * 9.81, rel=0.25)


def test_a_box_lies_where_its_piece_says() -> None:
    world = build_world(pieces=(Piece("step", "box", (0.4, 0.6, 0.2), (1.0, 2.0, 0.5), np.pi / 2),))
    geoms, row = world.layout.geoms, world.layout.piece_ids[0]
    np.testing.assert_allclose(geoms.size, [[0.2, 0.3, 0.1]])
    np.testing.assert_allclose(geoms.pos, [[0, 0, 0.1]])
    assert geoms.body[0] == row
    derived = jax.jit(MujocoEngine(world).forward)(initial_state(world))
    np.testing.assert_allclose(derived.xpos[row], [1.0, 2.0, 0.5])
    np.testing.assert_allclose(derived.xquat[row], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sofa", "sofabed"), "piece 'sofa': unknown kind 'sofabed'"),
        (("step", "box"), "piece 'step': a box needs three positive sizes"),
        (("step", "box", (1.0, 1.0)), "piece 'step': a box needs"),
        (("step", "box", (1.0, 0.0, 1.0)), "piece 'step': a box needs"),
        (("step", "box", (1.0, np.nan, 1.0)), "piece 'step': a box needs"),
        (("seat", "chair", (1.0, 1.0, 1.0)), "piece 'seat': only a box takes a size"),
        (("seat", "chair", None, (0.0, np.inf, 0.0)), "piece 'seat': pos .* not finite"),
    ],
)
def test_bad_pieces_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Piece(*arguments)


@pytest.mark.parametrize("names", [("a", "a"), ("floor",)])
def test_bad_names_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="scene 'room'"):
        Scene("room", tuple(Piece(n, "chair") for n in names))


def test_unknown_scenes_are_refused() -> None:
    with pytest.raises(KeyError, match=r"unknown scene 'garden'.*boxes"):
        get_scene("garden")


KINDS = st.sampled_from([("chair", None), ("stool", None), ("box", (0.5, 0.5, 0.2)), ("box", (0.5, 0.5, 0.4))])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(KINDS, max_size=4), max_size=4))
def test_union_is_the_fewest_pieces_that_furnish_any_scene(rooms: list) -> None:
    scenes = [Scene(f"s{i}", tuple(Piece(f"p{j}", *k) for j, k in enumerate(room))) for i, room in enumerate(rooms)]
    pieces, maps = union(scenes)
    for scene, places in zip(scenes, maps, strict=True):
        assert list(places) == [p.name for p in scene.pieces]
        assert len(set(places.values())) == len(places)
        for piece in scene.pieces:
            assert (pieces[places[piece.name]].kind, pieces[places[piece.name]].size) == (piece.kind, piece.size)
    most: Counter = Counter()
    for room in rooms:
        most |= Counter(room)
    assert len(pieces) == most.total()
    assert len({p.name for p in pieces}) == len(pieces)
