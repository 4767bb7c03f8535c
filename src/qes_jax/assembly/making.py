"""Our own clips built, judged and saved, by one process or several."""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from qes_jax.assembly.sheets.clips import save_sheet
from qes_jax.authoring.catalogue import build, by_category
from qes_jax.authoring.quality import judge
from qes_jax.motion.clip import load_clip, save_clip


def build_one(name: str, out: Path, keep: bool) -> dict[str, float | str]:
    """Build, judge and save one clip; returns a row of the report."""
    start, path = time.perf_counter(), out / f"{name}.npz"
    if keep and path.exists():
        clip = load_clip(path)
    else:
        clip = build(name)
        save_clip(path, clip)
    built = time.perf_counter() - start
    return {"name": name, "seconds": clip.duration, **asdict(judge(clip)), "build_s": round(built, 2)}


def rows_of(names: list[str], out: Path, keep: bool, workers: int, prepare: Callable[[], None]) -> Iterator[dict]:
    """A row for each clip as it is done, by this process or by several, which first `prepare`."""
    if workers <= 1:
        yield from (build_one(name, out, keep) for name in names)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=prepare) as pool:
        ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as the children inherit it: Ctrl-C is for this process
        tasks = [pool.submit(build_one, name, out, keep) for name in names]
        signal.signal(signal.SIGINT, ours)
        try:
            yield from (task.result() for task in as_completed(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def save_sheets(names: list[str], clips: Path, folder: Path) -> None:
    """A contact sheet of each category in `folder`, of the clips built into `clips`."""
    for category, members in by_category(names).items():
        path = folder / f"{category.replace(' ', '_')}.jpg"
        save_sheet(path, [load_clip(clips / f"{name}.npz") for name in members])
        print(path, flush=True)
