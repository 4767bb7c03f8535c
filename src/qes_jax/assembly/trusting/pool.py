"""Child processes that do the tries: each is watched, and another takes the place of one that hangs or dies."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from qes_jax.assembly.trusting.guard import SECONDS
from qes_jax.assembly.trusting.subjects import SUBJECTS
from qes_jax.assembly.trusting.work import Done, Finding, Job, good_files, serve, spoilt

PATIENCE = 2 * SECONDS  # beyond which a child that hangs where no alarm reaches it is ended
START = 300.0  # [s] for a child to get ready


class Worker:
    """One child, and the job it has."""

    def __init__(self, seed: int, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")  # JAX's threads do not survive a fork
        self.pipe, theirs = context.Pipe()
        self.at, self.job = context.Value("q", 0), None
        self.since, self.last = time.monotonic(), -1
        self.ready = False
        self.process = context.Process(target=serve, args=(theirs, self.at, folder, seed), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, job: Job) -> None:
        """Let it begin."""
        self.at.value = self.last = job.first
        self.job, self.since = job, time.monotonic()
        self.pipe.send(job)

    def stuck(self) -> bool:
        """Whether it has been at the same try for too long."""
        if self.at.value != self.last:
            self.last, self.since = self.at.value, time.monotonic()
        return time.monotonic() - self.since > (PATIENCE if self.ready else START)

    def end(self) -> None:
        """No more of it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_jobs(jobs: Iterator[Job], seed: int, workers: int) -> Iterator[Done]:
    """Do jobs until there are no more. A try that ends its process is a finding like others."""
    with tempfile.TemporaryDirectory(prefix="qes-trust-") as folder:
        made = 0

        def another() -> Worker:
            nonlocal made
            made += 1
            return Worker(seed, Path(folder) / str(made))

        team = [another() for _ in range(workers)]
        try:
            while team:
                ready = wait([w.pipe for w in team], timeout=0.5)
                for worker in list(team):
                    outcome = _heard(worker) if worker.pipe in ready else "hang" if worker.stuck() else None
                    if outcome is None:
                        continue
                    if isinstance(outcome, str):
                        if worker.job is None or outcome not in ("hang", "died"):
                            raise RuntimeError(f"a process of the campaign itself failed: {outcome}")
                        yield _lost(worker, outcome, seed, Path(folder) / "lost")
                        team.remove(worker)
                        worker.end()
                        team.append(another())
                        continue
                    if isinstance(outcome, Done):
                        yield outcome
                    worker.ready = True
                    job = next(jobs, None)
                    if job is None:
                        team.remove(worker)
                        worker.end()
                    else:
                        worker.give(job)
        finally:
            for worker in team:
                worker.end()


def _heard(worker: Worker) -> Any:
    """What it sent: a Done, True for being ready, or that it died."""
    try:
        return worker.pipe.recv() or True
    except (EOFError, ConnectionError):
        return "died"


def _lost(worker: Worker, kind: str, seed: int, folder: Path) -> Done:
    """The job of a child that was lost: the try in hand is the finding, those before it are not counted."""
    number, subject = worker.at.value, SUBJECTS[worker.job.subject]
    files, ways = spoilt(good_files(subject, folder), subject.main, (seed, worker.job.subject, number))
    what = f"exit code {worker.process.exitcode}" if kind == "died" else "no alarm reached it"
    finding = Finding(subject.name, number, kind, what, tuple(ways), files)
    return Done(worker.job._replace(first=number), {kind: 1}, [finding])
