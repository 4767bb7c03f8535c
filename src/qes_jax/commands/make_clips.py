"""Build clips and judge them: python experiments/make_clips.py [WORDS ...] [--out DIR] [--workers N]

WORDS are names of clips, families (walk_line), categories ("office chair", controlled), builtin or library; without any
it builds these two, bit for bit the same whenever it is run. Each line tells how good a clip is (authoring/quality.py).

    --list          only tell the names
    --table         only print categories, clips and minutes
    --sheet DIR     also draw a contact sheet of each category: MUJOCO_GL=osmesa or egl
"""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.commands.launch import explained, prepare_jax
from qes_jax.files import check_target, replacing


@dataclass(frozen=True)
class Options:
    """What to build, and where to put it."""

    words: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    out: Path = Path("clips")  # folder for NAME.npz
    workers: int = 1  # processes
    keep: bool = False  # leave the clips that are there already
    list: bool = False  # only tell the names
    table: bool = False  # only print categories, clips and minutes
    sheet: Path | None = None  # folder for a contact sheet of each category
    json: Path | None = None  # file for the quality of each clip, or the table


@explained
def main(argv: list[str] | None = None) -> int:
    """Build, judge and save the clips. Exit code 2 at an unknown word."""
    options = tyro.cli(Options, description=__doc__, args=argv)
    if options.workers > 1:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the children: small matrices, one core each
    prepare_jax()
    from qes_jax.assembly.making import rows_of, save_sheets  # only now: they import JAX
    from qes_jax.authoring.catalogue import find_names, table

    names, start = find_names(options.words), time.perf_counter()
    if options.list:
        print("\n".join(names))
        return 0
    if options.table:
        lines = table(names)
        print("\n".join(lines))
        _write(options.json, lines)
        return 0
    check_target(options.json, options.out / "NAME.npz", options.sheet and options.sheet / "CATEGORY.jpg")
    print(f"building {len(names)} clips into {options.out}", flush=True)
    rows = []
    for row in rows_of(names, options.out, options.keep, options.workers, prepare_jax):
        rows.append(row)
        measures = "  ".join(f"{k} {v:.2f}" for k, v in row.items() if isinstance(v, float) and k != "seconds")
        print(f"{len(rows):3}/{len(names)} {row['name']:20} {row['seconds']:5.1f} s  {measures}", flush=True)
    minutes, spent = sum(r["seconds"] for r in rows) / 60, (time.perf_counter() - start) / 60
    print(f"{len(rows)} clips, {minutes:.1f} min of motion, in {spent:.1f} min")
    _write(options.json, sorted(rows, key=lambda row: names.index(row["name"])))
    if options.sheet:
        save_sheets(names, options.out, options.sheet)
    return 0


def _write(path: Path | None, content: object) -> None:
    if path:
        with replacing(path) as aside:
            aside.write_text(json.dumps(content, indent=1))
