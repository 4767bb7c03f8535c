"""A table from its options on: which runs it takes, those of this part trained and evaluated, what is there written."""

from collections.abc import Mapping, Sequence

from qes_jax.assembly.claims.grid import TINY, Run, base_config, choose, runs, tiny
from qes_jax.assembly.claims.measure import Protocol, measure, measured, protocol
from qes_jax.assembly.claims.options import Options
from qes_jax.assembly.claims.report import write
from qes_jax.assembly.claims.training import train
from qes_jax.assembly.sweeping.grid import share


def make_table(options: Options, environment: Mapping[str, str]) -> int:
    """All of it, or one part. Returns 1 where a training failed, else 0."""
    todo, how = plan(options)
    failed = work(share(todo, options.index, options.of), how, options, environment) if options.train else []
    there = {(r.setting, r.config.seed): found for r in todo if (found := measured(r.folder, how)) is not None}
    write(options.out or todo[0].folder.parent, options.table, todo, how, there)
    return int(bool(failed))


def plan(options: Options) -> tuple[list[Run], Protocol]:
    """Every run of the table, and how all are evaluated. Raises ValueError."""
    if options.smoke:
        base = tiny(base_config("smoke", TINY, 4096))
        return runs(options.table, base, 2, options.root / "smoke"), protocol(TINY, 8, min(options.places, 2), 0.08)
    families = choose(options.families, options.clips, options.test_clips)
    if options.samples is not None and options.samples < 1:
        raise ValueError(f"--samples {options.samples}: expected at least 1")
    base = base_config(options.preset, families, options.samples)
    how = protocol(families, options.starts, options.places, options.place_spread)
    return runs(options.table, base, options.seeds, options.root), how


def work(todo: Sequence[Run], how: Protocol, options: Options, environment: Mapping[str, str]) -> list[Run]:
    """Train and evaluate these runs; returns those whose training failed. Ends early where one is stopped."""
    failed = []
    for run in todo:
        outcome = train(run, options.tracker, options.root, environment)
        if outcome == "stopped":
            print("stopped; the same command goes on", flush=True)
            break
        if outcome == "failed":
            failed.append(run)
            print(f"{run.folder}: failed, going on with the next", flush=True)
        else:
            measure(run.folder, how)
    return failed
