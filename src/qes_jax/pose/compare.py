"""All methods on the same held-out edits: time, memory, errors of targets and bones, distance to the real poses.

An edit: a start pose, a true pose from the same second of the clip, and the positions of some joints read off it.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.pose.edit import STEPS_MANY
from qes_jax.pose.fabrik import bone_lengths, fabrik, restore_lengths
from qes_jax.pose.figure import Figure, frames
from qes_jax.pose.paper import ORDER, Paper, solve
from qes_jax.pose.prior import stay
from qes_jax.pose.refine import refine
from qes_jax.pose.residual import Slots, look_up
from qes_jax.pose.skeleton import BONES, JOINTS, SETS, numbers
from qes_jax.pose.targets import Targets
from qes_jax.pose.weights import n_bytes

READ = {1: "head", 2: "hands", 5: "all"}  # sets by the number of targets
BATCH = 256  # poses of one batched call


class Edits(NamedTuple):
    """N edits: qpos (39, N) and joints (22, 3, N) of starts and of true poses."""

    start: jax.Array
    start_points: jax.Array
    true_points: jax.Array


class Method(NamedTuple):
    """`solve` gives joints (22, 3, N) before and after the correction of lengths, for edits and the name of a set."""

    name: str
    solve: Callable[[Edits, str], tuple[jax.Array, jax.Array]]
    bytes: int
    sets: tuple[str, ...] = tuple(READ.values())


def methods(figure: Figure, paper: Paper, prior) -> list[Method]:
    """Every column of the table."""
    coder = n_bytes((paper.scale, paper.coder))
    largest = max(n_bytes(paper.solvers[s]) for s in READ.values())
    return [
        Method("start pose", lambda e, _: (e.start_points, e.start_points), 0),
        Method("FABRIK, one sweep", lambda e, s: _fabrik(e, s, 1), 0),
        Method("FABRIK", lambda e, s: _fabrik(e, s, 100), 0),
        Method("published solver", lambda e, s: _paper(paper, (s,), e), coder + largest),
        Method("published, in sequence", lambda e, _: _paper(paper, ORDER, e), n_bytes(paper), ("all",)),
        Method("least squares", lambda e, s: ours(figure, stay, 10, e, s), n_bytes(figure)),
        our_method(figure, prior),
    ]


def our_method(figure: Figure, prior) -> Method:
    """The column of a trained prior."""
    return Method("ours", lambda e, s: ours(figure, prior, STEPS_MANY, e, s), n_bytes((figure, prior.args)))


def measure(method: Method, edits: Edits, groups: dict[str, np.ndarray] | None = None) -> dict[str, float]:
    """One column. Lengths in centimetres; times are the process's own, least of several calls [ms].

    `groups` are further rows: the joints' errors of some of the edits, (N,) bool.
    """
    run = jax.jit(method.solve, static_argnums=1)
    found = {k: run(edits, READ[k]) for k in READ if READ[k] in method.sets}
    errors = {k: target_and_joint_errors(result, edits, READ[k]) for k, result in found.items()}
    few, one = (jax.tree.map(lambda x, n=n: x[..., :n], edits) for n in (BATCH, 1))
    full = errors[5]
    return {
        "batched [ms/pose]": _time(lambda: run(few, "all"), 30) / BATCH,
        "single [ms]": _time(lambda: run(one, "all"), 200),
        "memory [kB]": method.bytes / 1000,
        **{k: v for k, v in full.items() if k != "joints [cm]"},
        **{f"joints, k = {k} [cm]": e["joints [cm]"] for k, e in errors.items()},
        **{
            f"joints, k = {k}, {name} [cm]": 100 * float(_joint_errors(result[1], edits)[rows].mean())
            for name, rows in (groups or {}).items()
            for k, result in found.items()
        },
        "nothing asked, moves by up to [cm]": max(_moved(run, edits, READ[k]) for k in found),
    }


def _moved(run: Callable, edits: Edits, name: str) -> float:
    """The furthest [cm] that any joint goes in any edit whose targets are where the joints already are."""
    still = edits._replace(true_points=edits.start_points)
    way = np.asarray(run(still, name)[1] - edits.start_points)[1:]
    return 100 * float(np.linalg.norm(way, axis=1).max())


def _joint_errors(points: jax.Array, edits: Edits) -> np.ndarray:
    """(N,) mean distance [m] of the joints to the true ones."""
    away = np.asarray(points, np.float64) - np.asarray(edits.true_points, np.float64)
    return np.linalg.norm(away[1:], axis=1).mean(axis=0)


def target_and_joint_errors(result: tuple[jax.Array, jax.Array], edits: Edits, name: str) -> dict[str, float]:
    """Means over the edits of joints (22, 3, N) before and after the correction of lengths."""
    raw, fixed = (np.asarray(r, np.float64) for r in result)
    true, lengths = np.asarray(edits.true_points, np.float64), _lengths(np.asarray(edits.start_points, np.float64))
    rows = numbers(SETS[name])
    target = [np.linalg.norm((p - true)[rows], axis=1) for p in (raw, fixed)]
    bones = [np.abs(_lengths(p) - lengths).sum(axis=0) for p in (raw, fixed)]
    return {
        "target before [cm]": 100 * float(target[0].mean()),
        "target after [cm]": 100 * float(target[1].mean()),
        "target after, 99 % [cm]": 100 * float(np.percentile(target[1], 99)),
        "bones before [cm]": 100 * float(bones[0].mean()),
        "bones after [cm]": 100 * float(bones[1].mean()),
        "joints [cm]": 100 * float(_joint_errors(result[1], edits).mean()),
    }


def _lengths(points: np.ndarray) -> np.ndarray:
    child, parent = np.array(BONES).T
    return np.linalg.norm(points[child] - points[parent], axis=1)


def _time(call: Callable, times: int) -> float:
    """Least processor time [ms]: that of a quiet machine, also on a busy one."""
    jax.block_until_ready(call())
    spent = []
    for _ in range(times):
        began = time.process_time()
        jax.block_until_ready(call())
        spent.append(time.process_time() - began)
    return 1e3 * min(spent)


def _fabrik(edits: Edits, name: str, sweeps: int) -> tuple[jax.Array, jax.Array]:
    wanted = np.zeros((len(JOINTS), edits.start.shape[1]), bool)
    wanted[numbers(SETS[name])] = True
    points = fabrik(edits.start_points, edits.true_points, jnp.asarray(wanted), sweeps)
    return points, points


def _paper(paper: Paper, names: tuple[str, ...], edits: Edits) -> tuple[jax.Array, jax.Array]:
    start, goal = (jnp.moveaxis(x, -1, 0) for x in (edits.start_points, edits.true_points))
    raw = jnp.moveaxis(solve(paper, names, start, goal), 0, -1)
    return raw, restore_lengths(raw, bone_lengths(edits.start_points))


def ours(figure: Figure, prior, steps: int, edits: Edits, name: str, **settings: float) -> tuple[jax.Array, jax.Array]:
    """Joints of a prior's guess, and after refinement with other `settings` of it."""
    slots = _slots(figure, edits, name)
    guess, spread = prior(figure, edits.start, slots)
    refined = refine(figure, guess, spread, slots, steps, **settings)
    return frames(figure, guess).points, frames(figure, refined).points


def _slots(figure: Figure, edits: Edits, name: str) -> Slots:
    rows, n = numbers(SETS[name]), edits.start.shape[1]
    value = jnp.concatenate([edits.true_points[rows], jnp.zeros((len(rows), 1, n))], axis=1)
    joint, one = jnp.broadcast_to(jnp.asarray(rows)[:, None], (len(rows), n)), jnp.ones((len(rows), n))
    return look_up(figure, Targets(joint, jnp.zeros_like(joint), value, one, jnp.zeros_like(one)))


def as_markdown(results: dict[str, dict[str, float]]) -> str:
    """Methods as columns."""
    names, keys = list(results), list(dict.fromkeys(k for r in results.values() for k in r))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for key in keys:
        cells = [f"{results[n][key]:.3g}" if key in results[n] else "" for n in names]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
