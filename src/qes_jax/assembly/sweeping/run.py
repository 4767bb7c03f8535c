"""A sweep's runs on this machine: which there are, which go on, and several at a time."""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.sweeping.gather import Run, print_table, read_runs
from qes_jax.assembly.sweeping.grid import arguments, points, read_sweep, share
from qes_jax.assembly.sweeping.options import Options
from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.stop import StopFlag


@dataclass(frozen=True)
class Job:
    """One run of a sweep."""

    number: int  # of the setting in the whole sweep, from 0
    words: list[str]  # of its command line
    config: RunConfig  # what they mean
    folder: RunFolder | None = None  # where it was begun


def run_sweep(options: Options, extra: Sequence[str], meaning: Callable[[list[str]], RunConfig]) -> int:
    """Do what is left of this machine's share, print the table of the share. Exit code 1 where a run failed.

    meaning: the settings that a training's command line stands for. Raises ValueError at a setting it does not take.
    """
    jobs = plan(options, extra, meaning)
    left = [job for job in jobs if not finished(job)]
    print(f"{options.file}: {len(jobs)} runs, {len(jobs) - len(left)} of them done", flush=True)
    if options.dry:
        print("\n".join(f"{job.number:4} {' '.join(command(job, options.root))}" for job in left))
        return 0
    failed, stopped = work(left, options.workers, options.root)
    print_table([run for job in found(jobs, options.root) if (run := Run.read(job.folder))], options)
    if failed:
        print(f"failed: {', '.join(str(job.number) for job in failed)}; again: the same command", file=sys.stderr)
    if stopped:
        print("stopped; the same command goes on", file=sys.stderr)
    return 130 if stopped else int(bool(failed))


def plan(options: Options, extra: Sequence[str], meaning: Callable[[list[str]], RunConfig]) -> list[Job]:
    """The runs of this machine's share, with the folders of those that were begun."""
    if options.workers < 1:
        raise ValueError(f"--workers {options.workers}: expected at least 1")
    assert options.file is not None
    sweep = read_sweep(options.file)
    words = [arguments(sweep, point, extra) for point in points(sweep, options.count)]
    jobs = share([Job(i, w, meaning(w)) for i, w in enumerate(words)], options.index, options.of)
    return found(jobs, options.root)


def found(jobs: Sequence[Job], root: Path) -> list[Job]:
    """The jobs with the newest run folder below `root` that has exactly their settings, whoever began it."""
    folders = {run.config: run.folder for run in read_runs(root)}  # oldest first: the newest stays
    return [replace(job, folder=folders.get(job.config)) for job in jobs]


def finished(job: Job) -> bool:
    """Whether a job's last checkpoint is there."""
    if job.folder is None:
        return False
    numbers = CheckpointStore(job.folder.checkpoints).numbers()
    return bool(numbers) and max(numbers) >= math.ceil(job.config.samples / job.config.ppo.n_samples)


def command(job: Job, root: Path) -> list[str]:
    """What a job's process is started with: on from where it stands, or anew."""
    own = [*tracker(job.words), "--resume", str(job.folder.path)] if job.folder else job.words
    return [sys.executable, "-m", "qes_jax", "train", *own, "--root", str(root)]


def tracker(words: Sequence[str]) -> list[str]:
    """The tracker among a run's words: the one option that is no setting, and so is given to a resumed run again."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    named = [[word, value] if word == "--tracker" else [word] for word, value in pairs if word.startswith("--tracker")]
    return named[-1] if named else []


def work(jobs: Sequence[Job], workers: int, root: Path) -> tuple[list[Job], bool]:
    """Run the jobs, `workers` at a time. Returns those that failed, and whether it was stopped.

    Ctrl-C and SIGTERM are passed on: runs save and end. Alone, a run speaks for itself; several write to logs.
    """
    waiting, running, failed, told = list(jobs), [], [], False
    with StopFlag() as stop:
        while running or (waiting and not stop.requested):
            while waiting and len(running) < workers and not stop.requested:
                job = waiting.pop(0)
                running.append((job, start(job, root, alone=workers == 1)))
            if stop.requested and not told:
                told = True
                for _, process in running:
                    process.terminate()
            ended = [(job, process) for job, process in running if process.poll() is not None]
            failed += [job for job, process in ended if process.returncode and not stop.requested]
            running = [pair for pair in running if pair not in ended]
            time.sleep(0.1)
        return failed, stop.requested


def start(job: Job, root: Path, alone: bool) -> subprocess.Popen:
    """Start a job's process."""
    print(f"run {job.number}: {' '.join(job.words)}", flush=True)
    if alone:
        return subprocess.Popen(command(job, root))
    (root / "logs").mkdir(parents=True, exist_ok=True)
    with (root / "logs" / f"{job.number:04d}.log").open("ab") as log:
        return subprocess.Popen(command(job, root), stdout=log, stderr=subprocess.STDOUT)
