"""Render an episode offscreen: MUJOCO_GL=egl python experiments/render.py episode.npz video.mp4 (strip.png --at 1 2)"""

import os
import subprocess
import sys
from pathlib import Path

import tyro


def main(
    episode: tyro.conf.Positional[Path], out: tyro.conf.Positional[Path], every: int = 2, at: tuple[float, ...] = ()
) -> None:
    """Write the video of every `every`-th frame, or with --at a picture of these moments [s] side by side."""
    from qes_jax.evaluate.episode import load_episode
    from qes_jax.evaluate.video import save_strip, save_video

    if at:
        save_strip(out, load_episode(episode), at)
    else:
        save_video(out, load_episode(episode), every)


def render(episode: Path, out: Path, *words: str) -> str:
    """Do that in a process of its own, for MuJoCo picks its OpenGL when it is imported. Returns why not, else ""."""
    said = ""
    for gl in [os.environ["MUJOCO_GL"]] if os.environ.get("MUJOCO_GL") else ["egl", "osmesa"]:
        command = [sys.executable, str(Path(__file__)), str(episode), str(out), *words]
        done = subprocess.run(command, env={**os.environ, "MUJOCO_GL": gl}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        said += f"\n  {gl}: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    return f"no OpenGL to be had (apt install libegl1 libosmesa6 may help){said}"


if __name__ == "__main__":
    tyro.cli(main)
