"""One evaluation, from a trained policy to tables, plots and playback."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from assemble import make_task
from clips import find_clips
from evaluate import Options
from settings import RunConfig
from trained import Trained, find_trained, is_shipped, load_trained, ship

from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate import figures, tables
from qes_jax.evaluate.episode import Episode, episodes, save_episode
from qes_jax.evaluate.playback import save_playback
from qes_jax.evaluate.recording import record
from qes_jax.evaluate.rollout import Tracked, track
from qes_jax.evaluate.starts import all_starts, clip_of_start, continued, even_starts
from qes_jax.model.scene import get_scene
from qes_jax.motion.clip import Clip
from qes_jax.motion.sensors import make_track, read_device, sensor_clip
from qes_jax.runs.folder import write_json, write_text
from qes_jax.runs.metrics import read_metrics


@dataclass(frozen=True)
class Trial:
    """What a policy is tried on."""

    clips: list[Clip]
    longer: list[Clip]  # the same, continued
    task: Task
    params: EnvParams  # of the continued clips, with the policy's own centre of PD targets
    fps: float


def evaluate_run(options: Options) -> dict[str, Any]:
    """Evaluate as the options say, print the table, write everything. Returns what results.json holds."""
    trained = load_trained(find_trained(options.root, options.run))
    if options.export:
        ship(trained, options.export)
    trial = make_trial(trained, options)
    starts = all_starts(trial.clips, trial.longer)
    starts = starts if options.starts == "all" else even_starts(starts, options.starts)
    tracked = follow(trained, trial, starts, round(options.seconds * trial.fps))
    names = [c.name for c in trial.clips]
    found = tables.results(tracked, clip_of_start(starts, trial.longer), names, trial.fps)
    data = describe(trained, trial, options, len(starts)) | by_threshold(found)
    out = output_folder(trained, options)
    write_json(out / "results.json", data)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.json, data)
    write_text(out / "table.md", tables.markdown(found))
    print(tables.markdown(found), flush=True)
    plot(out, trained, tracked, trial.fps)
    show(out, trained, trial, options)
    print(f"written to {out}", flush=True)
    return data


def make_trial(trained: Trained, options: Options) -> Trial:
    """The clips and recordings asked for, in a world that can furnish them all."""
    clips = find_clips(options.clips) + [read_recording(p, trained.config, options.scene) for p in options.recording]
    clips = clips or trained.own_clips()
    longer = continued(clips, options.seconds)
    task, params = make_task(trained.config, longer)
    return Trial(clips, longer, task, params._replace(mean_pose=trained.mean_pose), 1.0 / task.config.ctrl_dt)


def read_recording(path: Path, config: RunConfig, scene: str) -> Clip:
    """A device recording as a clip whose body is a stand-in in the A-pose."""
    height = config.character.height
    return sensor_clip(make_track(read_device(path), height), get_scene(scene), name=path.stem)


def follow(trained: Trained, trial: Trial, starts: np.ndarray, n_frames: int) -> Tracked:
    """Track from all starts, with progress on the error output."""
    print(
        f"following {len(starts)} starts for {n_frames / trial.fps:.0f} s (compiling first)",
        file=sys.stderr,
        flush=True,
    )

    def progress(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\r{100 * done / total:5.1f} % of {total} steps", end=end, file=sys.stderr, flush=True)

    return track(trial.task, trial.params, trained.act, trained.policy, starts, n_frames, progress=progress)


def describe(trained: Trained, trial: Trial, options: Options, n_starts: int) -> dict[str, Any]:
    """What was evaluated, and how."""
    return {
        "run": trained.folder.name,
        "clips": [c.name for c in trial.clips],
        "unseen": bool(options.clips or options.recording) and not set(options.clips) <= set(trained.config.clips),
        "starts": options.starts,
        "n_starts": n_starts,
        "seconds": options.seconds,
        "fps": trial.fps,
        "device": jax.devices()[0].device_kind,
    }


def by_threshold(found: tables.Results) -> dict[str, Any]:
    """Overall values at the paper's threshold first, then each threshold's, overall and by clip."""
    values = {f"{t:g}": {name: tables.as_values(s) for name, s in by_clip.items()} for t, by_clip in found.items()}
    first = next(iter(values))
    return {"threshold_m": float(first), **values[first][tables.OVERALL], "thresholds": values}


def output_folder(trained: Trained, options: Options) -> Path:
    """Where to write: shipped weights are left as they are."""
    shipped = options.root / f"{trained.folder.name}-evaluation"
    out = options.out or (shipped if is_shipped(trained.folder) else trained.folder.results)
    out.mkdir(parents=True, exist_ok=True)
    return out


def plot(out: Path, trained: Trained, tracked: Tracked, fps: float) -> None:
    """Errors over time, and the learning curves where the run's metrics are at hand."""
    figures.error_over_time(tracked, fps).savefig(out / "error_over_time.png", dpi=130)
    rows = read_metrics(trained.folder.metrics) if trained.folder.metrics.is_file() else []
    curves = {"eval/mean_tracked_s": "tracked of 20 s, at 0.5 m [s]", "eval/error_cm": "error before failure [cm]"}
    for metric, label in curves.items():
        if any(r.get(metric) is not None for r in rows):
            figure = figures.learning_curves({trained.folder.name: [rows]}, metric, label)
            figure.savefig(out / f"{metric.removeprefix('eval/')}.png", dpi=130)


def show(out: Path, trained: Trained, trial: Trial, options: Options) -> None:
    """Episodes from the first frame of the first clips: contact timelines, playback, video."""
    starts = np.cumsum([0, *(c.n_frames for c in trial.longer)])[: len(trial.clips)][: options.show]
    if len(starts) == 0:
        return
    seconds = min(options.seconds, max(c.duration for c in trial.clips[: options.show]))
    recording = record(trial.task, trial.params, trained.act, trained.policy, starts, round(seconds * trial.fps))
    for number, episode in enumerate(episodes(trial.task, trial.params, recording, [c.name for c in trial.clips]), 1):
        figures.contact_timeline(episode).savefig(out / f"contacts-{number}.png", dpi=130)
        if options.html:
            save_playback(out / f"playback-{number}.html", episode)
        if options.video:
            render(out, number, episode)


def render(out: Path, number: int, episode: Episode) -> None:
    """A video, by a process of its own: MuJoCo picks its OpenGL when it is imported."""
    save_episode(out / f"episode-{number}.npz", episode)
    script, video = Path(__file__).with_name("render.py"), out / f"video-{number}.mp4"
    said = ""
    for gl in [os.environ["MUJOCO_GL"]] if os.environ.get("MUJOCO_GL") else ["egl", "osmesa"]:
        command = [sys.executable, str(script), str(out / f"episode-{number}.npz"), str(video)]
        done = subprocess.run(command, env={**os.environ, "MUJOCO_GL": gl}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        said += f"\n  {gl}: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    print(f"no video: no OpenGL to be had (apt install libegl1 libosmesa6 may help){said}", file=sys.stderr)
