"""The solvers against each other, and strictness itself."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from qes_jax.control import fast
from qes_jax.control.balance import Balance
from qes_jax.control.body import load_body
from qes_jax.control.fast import Fast
from qes_jax.control.hierarchy import Hierarchy, Level, errors
from qes_jax.control.priority import kanoun, strict, weighted
from qes_jax.control.simulate import Push, Stage
from tests.control.hierarchies import KINDS, OracleError, oracle


def random_hierarchy(seed: int, n: int = 12, locked: bool = False) -> Hierarchy:
    """Levels of 3, 4 and 5 rows, a last one that leaves nothing free, and a box with some oblique rows."""
    rng = np.random.default_rng(seed)
    levels = [Level(rng.normal(size=(m, n)), rng.normal(size=m) * (4.0 if locked else 1.0)) for m in (3, 4, 5)]
    G = np.concatenate([np.eye(n), -np.eye(n), rng.normal(size=(6, n))])
    h = np.concatenate([np.full(2 * n, 0.6 if locked else 3.0), np.full(6, 1.0)])
    return Hierarchy((*levels, Level(np.eye(n), np.zeros(n))), G, h)


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_solvers_agree(seed: int, locked: bool) -> None:
    problem = random_hierarchy(seed, locked=locked)
    found = strict(problem)
    assert found.feasible and np.all(problem.G @ found.x <= problem.h + 1e-7)
    np.testing.assert_allclose(Fast(budget=None)(problem).errors, found.errors, atol=2e-6)
    np.testing.assert_allclose(kanoun(problem).errors, found.errors, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_the_first_level_is_plain_bounded_least_squares(seed: int) -> None:
    problem = random_hierarchy(seed, locked=True)
    n = problem.G.shape[1]
    boxed = Hierarchy(problem.levels, problem.G[: 2 * n], problem.h[: 2 * n])
    oracle = lsq_linear(boxed.levels[0].A, boxed.levels[0].b, (-0.6, 0.6), tol=1e-14)
    assert strict(boxed).errors[0] == pytest.approx(np.sqrt(2 * oracle.cost), abs=1e-7)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"flat"}))  # where no interior is left, 2 of 23 differ
def test_algorithm_1_has_the_oracles_error_in_hard_cases(kind: str) -> None:
    compared = 0
    for seed in range(12):
        problem = KINDS[kind](np.random.default_rng(seed))
        try:
            wanted = oracle(problem)
        except OracleError:
            continue
        found, compared = strict(problem), compared + 1
        assert found.feasible and np.all(problem.G @ found.x <= problem.h + 1e-6)
        np.testing.assert_allclose(found.errors, wanted, rtol=1e-6, atol=1e-6)
    assert compared >= 10


@pytest.mark.parametrize("solver", [strict, Fast(budget=None)], ids=["strict", "fast"])
@pytest.mark.parametrize("seed", range(6))
def test_a_lower_level_never_worsens_a_higher_one(seed: int, solver) -> None:
    problem = random_hierarchy(seed, locked=True)
    n = problem.G.shape[1]
    free = Level(np.eye(n), np.zeros(n))
    for depth in (1, 2, 3):
        alone = strict(Hierarchy((*problem.levels[:depth], free), problem.G, problem.h)).errors[:depth]
        louder = [Level(1e3 * p.A, 1e3 * p.b) for p in problem.levels[depth:]]
        together = solver(Hierarchy((*problem.levels[:depth], *louder), problem.G, problem.h)).errors[:depth]
        np.testing.assert_allclose(together, alone, atol=2e-6)


def test_the_weighted_sum_does() -> None:
    """What strictness is for: the sum gives up the second level for a loud third."""
    problem = random_hierarchy(1)
    first, second, third, last = problem.levels
    loud = Hierarchy((first, second, Level(1e3 * third.A, 1e3 * third.b), last), problem.G, problem.h)
    assert weighted(loud).errors[1] > strict(loud).errors[1] + 0.1


@pytest.mark.parametrize("solver", [strict, kanoun, Fast(budget=None)], ids=["strict", "kanoun", "fast"])
def test_without_a_feasible_point_all_is_zero(solver) -> None:
    problem = random_hierarchy(0)
    G = np.concatenate([problem.G, np.eye(1, 12), -np.eye(1, 12)])
    found = solver(Hierarchy(problem.levels, G, np.append(problem.h, [-1.0, -1.0])))
    assert not found.feasible
    np.testing.assert_array_equal(found.x, 0.0)
    np.testing.assert_allclose(found.errors, errors(problem, np.zeros(12)))


def test_a_warm_start_changes_nothing() -> None:
    solver = Fast(budget=None)
    for seed in range(8):
        problem = random_hierarchy(seed, locked=True)
        np.testing.assert_allclose(solver(problem).x, Fast(budget=None)(problem).x, atol=1e-6)


def test_a_tick_costs_no_more_than_its_budget_while_the_body_falls(monkeypatch) -> None:
    """Iterations and programmes are counted where DAQP is called, from the push to the floor."""
    plain, calls = fast.daqp.solve, []

    def counted(*args, **kwargs):
        found = plain(*args, **kwargs)
        calls.append(found[3]["iterations"])
        return found

    monkeypatch.setattr(fast, "daqp", SimpleNamespace(solve=counted))
    body = load_body()
    stage, spent = Stage(body, Balance(body), Fast(), low=0.0), []
    stage.pushes = [Push((0.0, 90.0), 0.2)]
    while stage.data.time < 2.5:
        calls.clear()
        stage.tick()
        spent.append(sum(calls) + fast.CALL * len(calls))
    assert stage.record.com[-1][2] < 0.3 * body.com_height  # it lies
    assert stage.solver.fallbacks > 50 and np.isfinite(stage.data.qpos).all()
    assert max(spent) <= fast.BUDGET + fast.COMPROMISE + 2 * fast.CALL


def test_a_compromise_keeps_the_laws_of_motion_and_prefers_upper_levels() -> None:
    for seed in range(6):
        problem = random_hierarchy(seed)
        found, exact = Fast(budget=0)(problem), strict(problem)
        assert found.feasible and found.errors[0] < 1e-9
        assert found.errors[1] < 0.3 < found.errors[2] < exact.errors[2] + 0.1
        assert np.all(problem.G @ found.x < problem.h + 1e-3)
