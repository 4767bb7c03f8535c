"""Build the built-in clips and judge them: python experiments/make_clips.py [NAMES ...] [--out DIR] [--list]

Without names it builds the whole catalogue, which takes a minute or two once the contact queries are compiled.
Each line tells how good a clip is (authoring/quality.py).
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from launch import explained, prepare_jax


@dataclass(frozen=True)
class Options:
    """What to build, and where to put it."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    out: Path = Path("clips")  # folder for NAME.npz
    list: bool = False  # only tell the names


@explained
def main(argv: list[str] | None = None) -> int:
    """Build, judge and save the clips one by one. Exit code 2 at an unknown name."""
    options = tyro.cli(Options, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.authoring.catalogue import build, names  # only now: they import JAX
    from qes_jax.authoring.quality import judge
    from qes_jax.motion.clip import save_clip

    if options.list:
        print("\n".join(names()))
        return 0
    for name in options.names or names():
        start = time.perf_counter()
        clip = build(name)
        save_clip(options.out / f"{name}.npz", clip)
        seconds = time.perf_counter() - start
        print(f"{name:14} {clip.duration:5.1f} s  {judge(clip)}  ({seconds:.1f} s to build)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
