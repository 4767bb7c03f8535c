"""Videos and pictures of episodes, each in a process of its own: MuJoCo picks its OpenGL when it is imported."""

import subprocess
import sys
from pathlib import Path


def render(episode: Path, out: Path, *words: str) -> str:
    """Write the video of an episode's file, or with "--at", *moments* a picture. Returns why not, else ""."""
    said = {}
    for gl in ("egl", "osmesa"):  # which heed MUJOCO_GL where it is set
        command = [sys.executable, "-m", "qes_jax", "render", str(episode), str(out), *words, "--gl", gl]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        said[gl] = (done.stderr.strip().splitlines() or ["?"])[-1]
    reasons = "".join(f"\n  {gl}: {why}" for gl, why in said.items())
    return f"no OpenGL to be had (apt install libegl1 libosmesa6 may help){reasons}"
