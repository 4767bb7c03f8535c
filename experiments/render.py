"""Render an episode offscreen: MUJOCO_GL=egl python experiments/render.py episode.npz video.mp4 (strip.png --at 1 2)"""

from qes_jax.commands.render import main

if __name__ == "__main__":
    raise SystemExit(main())
