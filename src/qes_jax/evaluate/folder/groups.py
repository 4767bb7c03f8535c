"""Recordings by group, worst first: where a policy fails."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from qes_jax.evaluate.folder.follow import ByThreshold
from qes_jax.evaluate.metrics import THRESHOLDS, over_groups
from qes_jax.evaluate.tables import LIKENESS, Columns, lines_of, row

FOLDERS = "folder"
STRICT = min(THRESHOLDS)
END = {"to_end": ("", 100.0, 1)}
COLUMNS: Columns = {
    "error_cm": ("error [cm]", 1.0, 1),
    "headset_error_cm": ("headset [cm]", 1.0, 1),
    "controllers_error_cm": ("controllers [cm]", 1.0, 1),
    "body_error_cm": ("whole body [cm]", 1.0, 1),
    "contact": ("contacts [%]", 100.0, 0),
    **{name: how for name, how in LIKENESS.items() if not name.startswith("user_") and name != "steps_per_s"},
}
WORST = 20  # recordings that are named

Groups = Mapping[str, ByThreshold]  # a group's name -> means over its recordings


def labels(names: Sequence[str], how: str | None = None) -> dict[str, list[str]]:
    """How recordings of these names are grouped: title of a table -> the group of each recording.

    `how` None: by sub-folder. Numbers ("2,3"): by those parts of the file's name, between underscores, a table each. A
    regular expression: by what its groups find in the path, a table each, by the groups' names where they have some;
    without groups, by what it finds itself. Raises ValueError.
    """
    if how is None:
        return {FOLDERS: [PurePosixPath(n).parent.as_posix().replace(".", "(top)", 1) for n in names]}
    if re.fullmatch(r"\d+(,\d+)*", how):
        parts = [int(n) for n in how.split(",")]
        return {f"part {k}": [_part(name, k) for name in names] for k in parts}
    try:
        pattern = re.compile(how)
    except re.error as error:
        raise ValueError(f"groups {how!r}: not a regular expression: {error}") from None
    titles = {i: f"group {i}" for i in range(1, pattern.groups + 1)} | {i: t for t, i in pattern.groupindex.items()}
    return {
        title: [(found[i] or "(none)") if (found := pattern.search(name)) else "(no match)" for name in names]
        for i, title in (titles or {0: "group"}).items()
    }


def _part(name: str, k: int) -> str:
    parts = PurePosixPath(name).name.split("_")
    return parts[k - 1] if 1 <= k <= len(parts) else "(none)"


def by_group(of: Sequence[str], found: Sequence[ByThreshold]) -> dict[str, ByThreshold]:
    """Means over the recordings of each group, worst first: the share followed to the end, then the error."""
    groups = {
        label: {t: over_groups([f[t] for f, own in zip(found, of, strict=True) if own == label]) for t in THRESHOLDS}
        for label in sorted(set(of))
    }
    return dict(sorted(groups.items(), key=lambda item: badness(item[1])))


def badness(found: ByThreshold) -> tuple[float, float, float]:
    """What worst first sorts by: shares followed to the end at both thresholds, then minus the error."""
    shares = [_or(found[t].to_end.value, 0.0) for t in sorted(THRESHOLDS)]
    return shares[0], shares[1], -_or(found[STRICT].error_cm.value, 0.0)


def _or(x: float, otherwise: float) -> float:
    return x if x == x else otherwise


def group_table(title: str, groups: Groups) -> str:
    """Markdown, a row a group."""
    lines = _head(title, "recordings")
    for name, found in groups.items():
        lines.append([name, *_cells(found)])
    return lines_of(lines)


def worst_table(names: Sequence[str], found: Sequence[ByThreshold], n: int = WORST) -> str:
    """Markdown, the `n` worst recordings. Of their few episodes no interval is given."""
    lines = _head("recording", "episodes")
    for i in sorted(range(len(names)), key=lambda i: badness(found[i]))[:n]:
        count, *cells = _cells(found[i])
        lines.append([names[i], count.partition(",")[0], *(c.partition(" (")[0] for c in cells)])
    return lines_of(lines)


def _head(what: str, count: str) -> list[list[str]]:
    ends = [f"followed to the end, {t:g} m [%]" for t in THRESHOLDS]
    head = [what, count, *ends, *(heading for heading, _, _ in COLUMNS.values())]
    return [head, ["---", *["---:"] * (len(head) - 1)]]


def _cells(found: ByThreshold) -> list[str]:
    """How many, success at each of THRESHOLDS, and the rest at the stricter one."""
    count, *rest = row(found[STRICT], COLUMNS)
    return [count, *(row(found[t], END)[1] for t in THRESHOLDS), *rest]


def page(
    tables: Mapping[str, Groups], names: Sequence[str], found: Sequence[ByThreshold], refused: Mapping[str, str],
    seconds: float,
) -> str:  # fmt: skip
    """The report: groups, worst recordings, files that could not be read with their reasons."""
    text = [
        f"{len(names)} recordings, each followed for {seconds:g} s from several starts. Means over recordings, in "
        "brackets the 95 % interval over recordings; errors and what follows them are of the time before failure at "
        f"{STRICT:g} m. Worst first.\n"
    ]
    text += [f"## By {title}\n\n{group_table(title, groups)}" for title, groups in tables.items()]
    text.append(f"## Worst recordings, at {STRICT:g} m\n\n{worst_table(names, found)}")
    if refused:
        lines = "".join(f"- {name}: {reason}\n" for name, reason in refused.items())
        text.append(f"## Not read: {len(refused)} files\n\n{lines}")
    return "\n".join(text)
