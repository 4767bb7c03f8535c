"""Build clips and judge them: python experiments/make_clips.py [WORDS ...] [--out DIR] [--workers N]

WORDS are names of clips, families (walk_line), categories ("office chair", controlled), builtin or library; without any
it builds these two, bit for bit the same whenever it is run. Each line tells how good a clip is (authoring/quality.py).

    --list          only tell the names
    --table         only print categories, clips and minutes
    --sheet DIR     also draw a contact sheet of each category: MUJOCO_GL=osmesa or egl
"""

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro
from launch import explained, prepare_jax

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


def build_one(name: str, out: Path, keep: bool) -> dict[str, float | str]:
    """Build, judge and save one clip; returns a row of the report."""
    from qes_jax.authoring.catalogue import build
    from qes_jax.authoring.quality import judge
    from qes_jax.motion.clip import load_clip, save_clip

    start, path = time.perf_counter(), out / f"{name}.npz"
    if keep and path.exists():
        clip = load_clip(path)
    else:
        clip = build(name)
        save_clip(path, clip)
    built = time.perf_counter() - start
    return {"name": name, "seconds": clip.duration, **asdict(judge(clip)), "build_s": round(built, 2)}


def rows_of(names: list[str], options: Options) -> Iterator[dict]:
    """A row for each clip as it is done, by this process or by several."""
    if options.workers <= 1:
        yield from (build_one(name, options.out, options.keep) for name in names)
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the children: small matrices, one core each
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context, initializer=prepare_jax) as pool:
        ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as the children inherit it: Ctrl-C is for this process
        tasks = [pool.submit(build_one, name, options.out, options.keep) for name in names]
        signal.signal(signal.SIGINT, ours)
        try:
            yield from (task.result() for task in as_completed(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


@explained
def main(argv: list[str] | None = None) -> int:
    """Build, judge and save the clips. Exit code 2 at an unknown word."""
    options = tyro.cli(Options, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.authoring.catalogue import find_names, table  # only now: they import JAX

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
    for row in rows_of(names, options):
        rows.append(row)
        measures = "  ".join(f"{k} {v:.2f}" for k, v in row.items() if isinstance(v, float) and k != "seconds")
        print(f"{len(rows):3}/{len(names)} {row['name']:20} {row['seconds']:5.1f} s  {measures}", flush=True)
    minutes, spent = sum(r["seconds"] for r in rows) / 60, (time.perf_counter() - start) / 60
    print(f"{len(rows)} clips, {minutes:.1f} min of motion, in {spent:.1f} min")
    _write(options.json, sorted(rows, key=lambda row: names.index(row["name"])))
    if options.sheet:
        _sheets(names, options.out, options.sheet)
    return 0


def _write(path: Path | None, content: object) -> None:
    if path:
        with replacing(path) as aside:
            aside.write_text(json.dumps(content, indent=1))


def _sheets(names: list[str], clips: Path, folder: Path) -> None:
    from clip_sheet import save_sheet

    from qes_jax.authoring.catalogue import by_category
    from qes_jax.motion.clip import load_clip

    for category, members in by_category(names).items():
        path = folder / f"{category.replace(' ', '_')}.jpg"
        save_sheet(path, [load_clip(clips / f"{name}.npz") for name in members])
        print(path, flush=True)


if __name__ == "__main__":
    sys.exit(main())
