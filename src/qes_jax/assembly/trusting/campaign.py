"""The campaign over all readers: who is tried when, what is counted, and what is kept of the findings."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from qes_jax.assembly.trusting.guard import Watch
from qes_jax.assembly.trusting.judge import FINE, Verdict
from qes_jax.assembly.trusting.pool import run_jobs
from qes_jax.assembly.trusting.subjects import SUBJECTS, subject
from qes_jax.assembly.trusting.work import Finding, Job, files_of, lay, verdict_of
from qes_jax.runs.folder import write_json

SLICE = 2.0  # [s] of one reader before the next has its turn
KEPT = 2  # findings of one kind whose files are kept


def run_readers(minutes: float, seed: int, workers: int, names: tuple[str, ...], out: Path) -> dict:
    """Try readers in turn until the time is over. Findings go into `out`; returns what was counted, as JSON values."""
    which = [SUBJECTS.index(subject(name)) for name in names] or list(range(len(SUBJECTS)))
    counts: dict[str, dict[str, int]] = {SUBJECTS[i].name: {} for i in which}
    seen: dict[str, int] = {}
    jobs = Jobs(which, minutes)
    for done in run_jobs(jobs, seed, workers):
        mine = counts[SUBJECTS[done.job.subject].name]
        for kind, count in done.counts.items():
            mine[kind] = mine.get(kind, 0) + count
        for finding in done.findings:
            keep(finding, seen, seed, out)
    tried = sum(sum(c.values()) for c in counts.values())
    seconds = time.monotonic() - jobs.began if jobs.began else 0.0
    return {
        "seed": seed, "workers": workers, "seconds": round(seconds), "tried": tried,
        "per_second": round(tried / max(seconds, 1e-9), 1), "readers": counts, "findings": seen,
    }  # fmt: skip


class Jobs(Iterator[Job]):
    """Slices of time for the readers in turn, until the time is over, which begins with the first."""

    def __init__(self, which: list[int], minutes: float) -> None:
        self.which, self.seconds, self.began = which, 60.0 * minutes, 0.0
        self.next = dict.fromkeys(which, 0)
        self.turn = 0

    def __next__(self) -> Job:
        self.began = self.began or time.monotonic()
        if time.monotonic() - self.began > self.seconds:
            raise StopIteration
        which = self.which[self.turn % len(self.which)]
        first = self.next[which]
        self.turn += 1
        self.next[which] += 10**6  # more than there is time for in a slice, so that no try comes twice
        return Job(which, first, SLICE)


def signature(finding: Finding) -> str:
    """What findings of one cause have in common: words without the numbers in them."""
    words = re.sub(r"/\S*|[-+]?\d[\d.e+-]*", "#", f"{finding.kind}, {finding.subject}: {finding.what}")
    return words[:160]


def keep(finding: Finding, seen: dict[str, int], seed: int, out: Path) -> None:
    """Count a finding; the first few of its kind are kept with their files in a folder of their own."""
    name = signature(finding)
    seen[name] = seen.get(name, 0) + 1
    if seen[name] > KEPT:
        return
    folder = out / re.sub(r"\W+", "-", f"{finding.kind}-{finding.subject}-{finding.number}")
    lay(finding.files, folder / "files")
    write_json(
        folder / "finding.json",
        {
            "reader": finding.subject, "kind": finding.kind, "what": finding.what, "ways": finding.ways,
            "seed": seed, "number": finding.number, "again": f"python experiments/bench/trust.py --again {folder}",
        },
    )  # fmt: skip


def again(folder: Path) -> Verdict:
    """Read a finding's files once more, in this process, and say what comes of it. Raises ValueError."""
    try:
        one = subject(json.loads((folder / "finding.json").read_text())["reader"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder}: not a finding: {error}") from None
    files = files_of(folder / "files")
    return verdict_of(one, lay(files, folder / "try") / one.main, folder / "try", Watch())


def bad(counts: dict[str, int]) -> int:
    """How many of the tries are findings."""
    return sum(n for kind, n in counts.items() if kind not in FINE)
