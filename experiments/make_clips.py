"""Build the built-in clips and judge them: python experiments/make_clips.py [NAMES ...] [--out DIR] [--list]

Without names it builds the whole catalogue, which takes a minute or two. Each line tells how good a clip is (authoring/quality.py).
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.authoring.catalogue import RECIPES, build
from qes_jax.authoring.quality import judge
from qes_jax.motion.clip import save_clip


@dataclass(frozen=True)
class Options:
    """What to build, and where to put it."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    out: Path = Path("clips")  # folder for NAME.npz
    list: bool = False  # only tell the names


def main(options: Options) -> None:
    """Build, judge and save the clips one by one."""
    if options.list:
        print("\n".join(RECIPES))
        return
    for name in options.names or RECIPES:
        start = time.perf_counter()
        clip = build(name)
        save_clip(options.out / f"{name}.npz", clip)
        print(f"{name:24} {clip.duration:5.1f} s  {judge(clip)}  built in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
