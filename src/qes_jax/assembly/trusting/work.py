"""Tries of one reader in a child process: spoil, read, judge."""

import dataclasses
import os
import shutil
import time
import traceback
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qes_jax.assembly.trusting.guard import Watch, limit_memory, limited
from qes_jax.assembly.trusting.judge import FINE, Verdict, judge
from qes_jax.assembly.trusting.spoil import spoil
from qes_jax.assembly.trusting.subjects import SUBJECTS, Subject


class Job(NamedTuple):
    """Tries `first`, `first` + 1, ... of a reader, as many as there is time for."""

    subject: int  # of SUBJECTS
    first: int
    seconds: float


@dataclasses.dataclass(frozen=True)
class Finding:
    """A try that came out badly, and how it was spoilt."""

    subject: str
    number: int
    kind: str
    what: str
    ways: tuple[str, ...]
    files: dict[str, bytes]  # by their names in the folder, as they were read


class Done(NamedTuple):
    """What came of a job."""

    job: Job
    counts: dict[str, int]
    findings: list[Finding]


def serve(pipe: Connection, at: Any, folder: Path, seed: int) -> None:
    """Do the jobs that come through a pipe, in a folder of the process's own. `at` tells the parent the try in hand.

    An error of the campaign itself is sent as its traceback.
    """
    try:
        _serve(pipe, at, folder, seed)
    except Exception:
        pipe.send(traceback.format_exc())


def _serve(pipe: Connection, at: Any, folder: Path, seed: int) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder.mkdir()
    os.chdir(folder)  # where libraries leave their logs
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # not only Python's: MuJoCo has words of its own
        os.dup2(silence, stream)
    goods = [good_files(s, folder / "good" / str(i)) for i, s in enumerate(SUBJECTS)]
    for one, files in zip(SUBJECTS, goods, strict=True):  # what is compiled or kept is there before the limits are
        judge(one.read, lay(files, folder / "try") / one.main, folder / "try")
    watch = Watch()
    limit_memory()
    pipe.send(None)
    while (job := pipe.recv()) is not None:
        pipe.send(tries(job, goods[job.subject], folder / "try", seed, watch, at))


def tries(job: Job, good: dict[str, bytes], folder: Path, seed: int, watch: Watch, at: Any) -> Done:
    """As many tries as there is time for, one at least."""
    counts: dict[str, int] = {}
    findings = []
    end, number = time.monotonic() + job.seconds, job.first
    while number == job.first or time.monotonic() < end:
        at.value = number
        verdict, ways, files = attempt(SUBJECTS[job.subject], good, folder, (seed, job.subject, number), watch)
        counts[verdict.kind] = counts.get(verdict.kind, 0) + 1
        if verdict.kind not in FINE:
            findings.append(Finding(SUBJECTS[job.subject].name, number, *verdict, tuple(ways), files))
        number += 1
    return Done(job, counts, findings)


def attempt(
    subject: Subject, good: dict[str, bytes], folder: Path, seed: tuple[int, ...], watch: Watch
) -> tuple[Verdict, list[str], dict[str, bytes]]:
    """One try: the verdict, how it was spoilt, and the files as they were read."""
    files, ways = spoilt(good, subject.main, seed)
    path = lay(files, folder) / subject.main
    return verdict_of(subject, path, folder, watch), ways, files


def spoilt(good: dict[str, bytes], main: str, seed: tuple[int, ...]) -> tuple[dict[str, bytes], list[str]]:
    """The files with one of them spoilt: mostly the main one, where it is a file."""
    rng, names = np.random.default_rng(seed), list(good)
    which = main if main in good and rng.random() < 0.8 else names[int(rng.integers(len(names)))]
    data, ways = spoil(good[which], rng)
    return good | {which: data}, [f"{which}: {way}" for way in ways]


def verdict_of(subject: Subject, path: Path, folder: Path, watch: Watch) -> Verdict:
    """Read under the limits; what was written or run counts more than what was read."""
    watch.begin()
    try:
        with limited():
            verdict = judge(subject.read, path, folder)
    finally:
        watch.on = False
    if watch.ran:
        return Verdict("code run", watch.ran[0])
    return Verdict("written", watch.written[0]) if watch.written else verdict


def good_files(subject: Subject, folder: Path) -> dict[str, bytes]:
    """The files that the subject makes, by their names in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subject.make(folder)
    return files_of(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder by their names in it."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def lay(files: dict[str, bytes], folder: Path) -> Path:
    """Write files into an emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
