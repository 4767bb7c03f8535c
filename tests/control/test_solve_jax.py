"""The batched solver: the oracle's error in every level, in hard cases too, and rows that do not know of each other."""

import jax
import numpy as np
import pytest

from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.hierarchy import Hierarchy, Level, errors
from qes_jax.control.jump import VARIANTS, Jump
from qes_jax.control.leap import LOW
from qes_jax.control.pad import pad
from qes_jax.control.simulate import Stage
from qes_jax.control.solve_jax import make_solver
from tests.control.hierarchies import KINDS, OracleError, batch, draw, oracle

COUNT, BATCH = 24, 20  # drawn; solved: one size, for one compilation


@pytest.fixture(scope="module")
def solver():
    return make_solver()


def _draw(kind: str) -> tuple[list[Hierarchy], np.ndarray]:
    """Problems, and the errors of their levels at the optimum; those that the oracle itself gives up are left out."""
    problems, wanted = [], []
    for seed in range(COUNT):
        problem = KINDS[kind](np.random.default_rng(seed))
        try:
            wanted.append(oracle(problem))
        except OracleError:
            continue
        problems.append(problem)
    assert len(problems) >= BATCH
    return problems[:BATCH], np.array(wanted)[:BATCH]


@pytest.mark.parametrize("kind", KINDS)
def test_every_level_has_the_oracles_error(kind: str, solver) -> None:
    problems, wanted = _draw(kind)
    found = solver(batch(problems))
    assert found.feasible.all()
    np.testing.assert_allclose(found.errors, wanted, rtol=1e-6, atol=1e-6)
    for problem, x, error in zip(problems, np.asarray(found.x), np.asarray(found.errors), strict=True):
        assert np.all(problem.G @ x <= problem.h + 1e-6)
        np.testing.assert_allclose(errors(problem, x), error, atol=1e-9)


def test_a_lower_level_never_worsens_a_higher_one(solver) -> None:
    problems = [draw(np.random.default_rng(seed)) for seed in range(BATCH)]
    whole = np.asarray(solver(batch(problems)).errors)
    cut = [p._replace(levels=(*p.levels[:2], *(Level(0 * lv.A, 0 * lv.b) for lv in p.levels[2:]))) for p in problems]
    first_two = np.asarray(solver(batch(cut)).errors)[:, :2]
    np.testing.assert_allclose(whole[:, :2], first_two, rtol=1e-7, atol=1e-7)


def test_impossible_inequalities_are_told_and_harm_no_other_row(solver) -> None:
    problems = [draw(np.random.default_rng(seed)) for seed in range(BATCH)]
    alone = np.asarray(solver(batch(problems)).errors)
    G, h = problems[1].G.copy(), problems[1].h.copy()
    G[1], h[:2] = -G[0], -1.0
    problems[1] = problems[1]._replace(G=G, h=h)
    found = solver(batch(problems))
    others = np.arange(BATCH) != 1
    np.testing.assert_array_equal(found.feasible, others)
    np.testing.assert_array_equal(np.asarray(found.x)[1], 0.0)
    np.testing.assert_allclose(np.asarray(found.errors)[others], alone[others], rtol=1e-9, atol=1e-9)


def test_two_aims_on_a_line() -> None:
    """x1 + x2 = 2 first, then x1 = 3 under x1 <= 2.5: x = (2.5, -0.5); the level below has nothing left to choose."""
    levels = (
        Level(np.array([[1.0, 1.0]]), np.array([2.0])),
        Level(np.array([[1.0, 0.0]]), np.array([3.0])),
        Level(np.array([[0.0, 1.0]]), np.array([7.0])),
    )
    found = make_solver()(batch([Hierarchy(levels, np.array([[1.0, 0.0]]), np.array([2.5]))]))
    np.testing.assert_allclose(found.x[0], [2.5, -0.5], atol=1e-9)
    np.testing.assert_allclose(found.errors[0], [0.0, 0.5, 7.5], atol=1e-9)


def test_64_bits_stay_inside(solver) -> None:
    found = solver(batch([draw(np.random.default_rng(seed)) for seed in range(BATCH)]))
    assert found.x.dtype == np.float64
    assert not jax.config.jax_enable_x64


@pytest.mark.slow
def test_ticks_of_a_jump_agree_with_the_solver_of_one_core(solver) -> None:
    """Contacts come and go, flight has fewer levels and unknowns: problems of one padded shape."""
    body = load_body()
    stage, ticks = Stage(body, Jump(body, VARIANTS["up"]), Fast(), low=LOW), []
    while stage.data.time < 1.9:
        ticks.append(stage.tick().problem)
    ticks = ticks[100::18]
    assert {problem.G.shape[1] for problem in ticks} == {body.m.nv, body.m.nv + 48}
    found = solver(pad(ticks))
    for problem, error in zip(ticks, np.asarray(found.errors), strict=True):
        kept = [*error[: len(problem.levels) - 1], error[-1]]
        np.testing.assert_allclose(kept, oracle(problem), rtol=1e-6, atol=1e-6)
