"""The loop over iterations of any learner: log, checkpoint, evaluate, stop, and resume bit for bit.

All that decides what comes next is in the checkpoint (train state, adaptive parameters, iteration number); the clock
decides nothing but when to write one. So a run that is killed and resumed repeats the lines it had lost, exactly.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.failure import TrainingFailed, bad_metrics, dump
from qes_jax.runs.folder import RunFolder, held
from qes_jax.runs.metrics import MetricsWriter
from qes_jax.runs.progress import Display, Silent
from qes_jax.runs.stop import StopFlag
from qes_jax.runs.tracker import NoTracker, Tracker
from qes_jax.types import Params

TrainState = Any  # a pytree of arrays
Scalars = Mapping[str, Any]  # name -> () each
Traces = Any  # a pytree of arrays, (T, B) each


def keep_params(env_params: Params, traces: Traces) -> Params:
    """Adapts nothing."""
    return env_params


@dataclass(frozen=True)
class Program:
    """What is to be trained.

    iteration: (train_state, env_params) -> (train_state, metrics, traces), compiled; may use up its train state.
    adapt: new environment parameters after every iteration, such as where episodes start. Pure.
    adaptive: the part of the environment parameters that `adapt` changes: saved in checkpoints, so keep it small.
    with_adaptive: puts that part back.
    evaluate: (train_state, env_params, iteration) -> scalars, a function of its arguments only; logged as they are.
    on_failure: called with (folder, train_state, env_params, metrics, traces) to add what it can to a dump;
        returns words for the error: environment, step, term.
    """

    iteration: Callable[[TrainState, Params], tuple[TrainState, Scalars, Traces]]
    adapt: Callable[[Params, Traces], Params] = keep_params
    adaptive: Callable[[Params], Any] = lambda env_params: ()
    with_adaptive: Callable[[Params, Any], Params] = lambda env_params, part: env_params
    evaluate: Callable[[TrainState, Params, int], Scalars] | None = None
    on_failure: Callable[..., str] | None = None


@dataclass(frozen=True)
class LoopConfig:
    """How long, and how often what is done. A count of 0 means never."""

    total_samples: int
    samples_per_iteration: int
    checkpoint_every: int = 50  # [iterations]
    checkpoint_seconds: float = 300.0  # and also when this long since the last one [s]
    evaluate_every: int = 0  # [iterations], and at the end
    keep_last: int = 3  # checkpoints
    best: str = ""  # the metric whose highest value has its checkpoint kept too
    fatal: tuple[str, ...] = ("nan/",)  # metrics that begin so must be zero

    @property
    def iterations(self) -> int:
        return -(-self.total_samples // self.samples_per_iteration)


class Outcome(NamedTuple):
    """How a loop ended."""

    train_state: TrainState
    env_params: Params
    iteration: int
    reason: Literal["done", "stopped"]


class Position(NamedTuple):
    """Where a run stands."""

    train_state: TrainState
    env_params: Params
    iteration: int
    wall_s: float  # of all sessions together


def train_loop(
    program: Program,
    train_state: TrainState,
    env_params: Params,
    run: RunFolder,
    config: LoopConfig,
    *,
    tracker: Tracker | None = None,
    display: Display | None = None,
    stop: StopFlag | None = None,
) -> Outcome:
    """Trains until `total_samples`, from the newest good checkpoint of `run` if it has one, else from what is given.

    The train state given may be used up, as `program.iteration` does with its own. Writes run.metrics (a line an
    iteration) and run.checkpoints; a last checkpoint at the end and upon a stop request. Closes tracker and display.
    Raises TrainingFailed with the path of a dump when an iteration raises or counts numbers that are not finite,
    ValueError where another process trains in the same folder.
    """
    with held(run):
        return _train(program, train_state, env_params, run, config, tracker, display, stop)


def _train(
    program: Program, train_state: TrainState, env_params: Params, run: RunFolder, config: LoopConfig,
    tracker: Tracker | None, display: Display | None, stop: StopFlag | None,
) -> Outcome:  # fmt: skip
    """`train_loop` in a folder that is held."""
    tracker, display = tracker or NoTracker(), display or Silent()
    store = CheckpointStore(run.checkpoints, config.keep_last, config.best)
    now, lines = restore(program, store, train_state, env_params)
    del train_state  # the first iteration may use it up
    writer = MetricsWriter(run.metrics, lines)
    saved, saved_at = now.iteration if lines else -1, time.monotonic()
    row: dict[str, float] = {}
    try:
        display.busy("compiling")
        while now.iteration < config.iterations and not (stop and stop.requested):
            now, row = advance(program, now, run, config)
            if program.evaluate and _evaluates(now.iteration, config):
                display.busy("evaluating")
                row |= _numbers(program.evaluate(now.train_state, now.env_params, now.iteration))
            writer.write(row)
            tracker.log(row, int(row["samples"]))
            display.update(int(row["samples"]), row)
            if _due(now.iteration, config.checkpoint_every) or _late(saved_at, config.checkpoint_seconds):
                save(program, store, writer, now, row)
                saved, saved_at = now.iteration, time.monotonic()
        if saved != now.iteration and row:
            save(program, store, writer, now, row)
    finally:
        writer.close()
        display.close()
        tracker.close()
    reason = "done" if now.iteration >= config.iterations else "stopped"
    return Outcome(now.train_state, now.env_params, now.iteration, reason)


def advance(program: Program, now: Position, run: RunFolder, config: LoopConfig) -> tuple[Position, dict[str, float]]:
    """One iteration, and its line of metrics. Raises TrainingFailed."""
    start, number = time.monotonic(), now.iteration + 1
    state, env_params = now.train_state, now.env_params
    metrics: dict[str, Any] = {}
    traces, error = {}, None
    try:
        state, scalars, traces = program.iteration(state, env_params)
        metrics = _numbers(scalars)
    except Exception as raised:
        error = raised
    if error or bad_metrics(metrics, config.fatal):
        note = program.on_failure
        raise TrainingFailed(
            dump(run, number, state, env_params, metrics, traces, config.fatal, error, note)
        ) from error
    env_params = program.adapt(env_params, traces)
    seconds = time.monotonic() - start
    now = Position(state, env_params, number, now.wall_s + seconds)
    samples = number * config.samples_per_iteration
    clock = {"time/wall_s": now.wall_s, "time/samples_per_s": config.samples_per_iteration / seconds}
    return now, {"iteration": number, "samples": samples, **metrics, **clock}


def save(
    program: Program, store: CheckpointStore, writer: MetricsWriter, now: Position, row: Mapping[str, float]
) -> None:
    """Writes a checkpoint; the metrics that it counts on are on the disk before it."""
    writer.sync()
    meta = {"iteration": now.iteration, "samples": row["samples"], "wall_s": now.wall_s, "metrics_lines": writer.lines}
    if store.best in row:
        meta[store.best] = row[store.best]
    store.save(now.iteration, _saved(program, now.train_state, now.env_params), meta)


def restore(
    program: Program, store: CheckpointStore, train_state: TrainState, env_params: Params
) -> tuple[Position, int]:
    """Where the run stands, and how many lines of metrics belong to that: the start where there is no checkpoint."""
    found = store.restore_latest(_saved(program, train_state, env_params))
    if found is None:
        return Position(train_state, env_params, 0, 0.0), 0
    env_params = program.with_adaptive(env_params, found.state["adaptive"])
    meta = found.meta
    return Position(found.state["train"], env_params, meta["iteration"], meta["wall_s"]), meta["metrics_lines"]


def _saved(program: Program, train_state: TrainState, env_params: Params) -> dict[str, Any]:
    return {"train": train_state, "adaptive": program.adaptive(env_params)}


def _numbers(scalars: Scalars) -> dict[str, Any]:
    return {name: np.asarray(x).item() for name, x in jax.device_get(dict(scalars)).items()}


def _evaluates(number: int, config: LoopConfig) -> bool:
    return config.evaluate_every > 0 and (number % config.evaluate_every == 0 or number == config.iterations)


def _due(number: int, every: int) -> bool:
    return every > 0 and number % every == 0


def _late(since: float, seconds: float) -> bool:
    return seconds > 0 and time.monotonic() - since > seconds
