"""Render an episode that evaluate.py saved: MUJOCO_GL=egl python experiments/render.py episode.npz video.mp4"""

from pathlib import Path

import tyro


def main(episode: tyro.conf.Positional[Path], video: tyro.conf.Positional[Path], every: int = 2) -> None:
    """Write the video of every `every`-th frame."""
    from qes_jax.evaluate.episode import load_episode
    from qes_jax.evaluate.video import save_video

    save_video(video, load_episode(episode), every)


if __name__ == "__main__":
    tyro.cli(main)
