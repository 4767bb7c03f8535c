"""A campaign's page, from what was counted."""

from qes_jax.assembly.trusting.judge import FINE

HEAD = """# Bad input

`python experiments/bench/trust.py` spoils files and sees what every reader makes of them. Good files of made-up
motions, rooms and networks are spoilt in one to three ways: bytes flipped, cut, doubled, inserted; numbers that are
huge, negative, not finite or no numbers; words, lines and fields exchanged or missing; brackets nested thousands deep;
arrays of another shape or type; headers that lie, pickles, bombs. Each is read in a process that may take 2 GiB and
10 s more, where files that are written and code that is run are seen. What may come of it is a **clear error** that
names the file, or a **sound value**, all of whose numbers are finite. All else is a finding, kept with its
files: `python experiments/bench/trust.py --again FOLDER` reads them once more.
"""


def page(counted: dict) -> str:
    """Markdown of a campaign's JSON."""
    readers = counted["readers"]
    return "\n".join([HEAD, *_readers(readers)])


def _readers(counted: dict) -> list[str]:
    rows = [f"| {name} | {_row(counts)} |" for name, counts in counted["readers"].items()]
    total: dict[str, int] = {}
    for counts in counted["readers"].values():
        for kind, count in counts.items():
            total[kind] = total.get(kind, 0) + count
    hours = 100_000 / max(counted["per_second"], 1e-9) / 3600
    words = (
        f"Seed {counted['seed']}: **{counted['tried']:,} files** in {counted['seconds']} s with {counted['workers']} "
        f"processes, {counted['per_second']} a second; 100,000 take {hours:.1f} hours at that rate."
    )
    lines = ["## Readers", "", words, "", "| reader | tried | clear error | sound value | findings |"]
    lines += ["|---|---|---|---|---|", *rows, f"| **all** | {_row(total)} |", ""]
    if counted["findings"]:
        lines += ["What was found, and how often:", ""]
        lines += [f"- {count} times: {words}" for words, count in sorted(counted["findings"].items())]
        lines.append("")
    return lines


def _row(counts: dict[str, int]) -> str:
    found = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()) if kind not in FINE) or "0"
    return f"{sum(counts.values())} | {counts.get(FINE[0], 0)} | {counts.get(FINE[1], 0)} | {found}"
