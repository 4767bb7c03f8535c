"""Render an episode offscreen: MUJOCO_GL=egl python experiments/render.py episode.npz video.mp4 (strip.png --at 1 2)"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.commands.launch import explained


@dataclass(frozen=True)
class Options:
    """Write the video of an episode, or with --at a picture of these moments side by side."""

    episode: Annotated[Path, tyro.conf.Positional]
    """As evaluation has saved it (.npz)."""
    out: Annotated[Path, tyro.conf.Positional]
    """The video (.mp4), or the picture (.png)."""
    every: int = 2
    """Of so many frames the video has one."""
    at: tuple[float, ...] = ()
    """[s] the picture's moments."""
    gl: str | None = None
    """MuJoCo's OpenGL (egl, osmesa, glfw), where MUJOCO_GL does not say."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Write one file. Exit code 2 at bad input."""
    options = tyro.cli(Options, args=argv)
    if options.gl:
        os.environ.setdefault("MUJOCO_GL", options.gl)
    from qes_jax.evaluate.episode import load_episode  # only now: MuJoCo picks its OpenGL when it is imported
    from qes_jax.evaluate.video import save_strip, save_video

    if options.at:
        save_strip(options.out, load_episode(options.episode), options.at)
    else:
        save_video(options.out, load_episode(options.episode), options.every)
    return 0
