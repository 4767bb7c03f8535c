"""One evaluation, from a trained policy to tables, plots and playback."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from qes_jax.assembly.clips import find_clips, held_out_names
from qes_jax.assembly.evaluation.options import Options
from qes_jax.assembly.render import render
from qes_jax.assembly.settings import effective_env
from qes_jax.assembly.trained import Trained, find_trained, is_shipped, load_trained, ship
from qes_jax.assembly.trial import Trial, follow_clips, make_trial, read_recording
from qes_jax.evaluate import figures, tables
from qes_jax.evaluate.episode import save_episode
from qes_jax.evaluate.rollout import Tracked, track
from qes_jax.evaluate.starts import all_starts, clip_of_start, even_starts
from qes_jax.evaluate.view.page import save_page
from qes_jax.evaluate.view.show import show_episode
from qes_jax.motion.clip import Clip
from qes_jax.runs.folder import write_json, write_text
from qes_jax.runs.metrics import read_metrics
from qes_jax.runs.progress import make_display


def evaluate_run(options: Options) -> dict[str, Any]:
    """Evaluate as the options say, print the table, write everything. Returns what results.json holds."""
    if options.scene != Options.scene and not options.recording:
        raise ValueError(f"--scene {options.scene}: only for a --recording; clips bring their own scene")
    trained = load_trained(find_trained(options.root, options.run))
    if options.export:
        ship(trained, options.export)
    measured = measure(trained, asked(trained, options), options.starts, options.seconds)
    trial, found = measured.trial, measured.scores
    data = describe(trained, trial, options, measured.tracked.error.shape[1]) | by_threshold(found)
    out = output_folder(trained, options)
    write_json(out / "results.json", data)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.json, data)
    write_text(out / "table.md", str(measured))
    print(measured, flush=True)
    plot(out, trained, measured.tracked, trial.fps)
    show(out, trained, trial, options)
    print(f"written to {out}", flush=True)
    return data


@dataclass(frozen=True)
class Measured:
    """What an evaluation has found; printed, it is a table in Markdown."""

    trial: Trial
    tracked: Tracked  # every step of every episode
    scores: tables.Results  # by threshold [m], then by clip

    def __str__(self) -> str:
        return tables.markdown(self.scores)


def measure(trained: Trained, clips: list[Clip], starts: int | Literal["all"], seconds: float) -> Measured:
    """Follow clips from so many even start frames of theirs, or from all, for `seconds` each."""
    trial = make_trial(trained, clips, seconds)
    frames = all_starts(trial.clips, trial.longer)
    frames = frames if starts == "all" else even_starts(frames, starts)
    tracked = follow(trained, trial, frames, round(seconds * trial.fps))
    names, clip = [c.name for c in trial.clips], clip_of_start(frames, trial.longer)
    return Measured(trial, tracked, tables.results(tracked, clip, names, trial.fps))


def asked(trained: Trained, options: Options) -> list[Clip]:
    """The clips and recordings asked for, or those that the policy was trained on."""
    recordings = [read_recording(p, trained.config, options.scene) for p in options.recording]
    words = [*options.clips, *(held_out_names(trained.config) if options.held_out else ())]
    return find_clips(words) + recordings or trained.own_clips()


def follow(trained: Trained, trial: Trial, starts: np.ndarray, n_frames: int) -> Tracked:
    """Track from all starts, with progress on the error output."""
    print(f"following {len(starts)} starts for {n_frames / trial.fps:.0f} s", file=sys.stderr, flush=True)
    display = make_display(len(starts) * n_frames, shown=(), unit="steps")
    display.busy("compiling")

    def progress(done: int, total: int) -> None:
        display.update(done, {})

    try:
        return track(trial.task, trial.params, trained.act, trained.policy, starts, n_frames, progress=progress)
    finally:
        display.close()


def describe(trained: Trained, trial: Trial, options: Options, n_starts: int) -> dict[str, Any]:
    """What was evaluated, and how."""
    return {
        "run": trained.folder.name,
        "clips": [c.name for c in trial.clips],
        "unseen": unseen(trained, options),
        "starts": options.starts,
        "n_starts": n_starts,
        "seconds": options.seconds,
        "fps": trial.fps,
        "device": jax.devices()[0].device_kind,
    }


def unseen(trained: Trained, options: Options) -> bool:
    """Whether anything asked for was not trained on. A file that was moved since is still the same clip."""
    asked_for, known = ({Path(word).stem for word in words} for words in (options.clips, trained.config.clips))
    stand_ins = not (options.clips or options.recording or trained.has_clips())
    return bool(options.recording or options.held_out) or stand_ins or not asked_for <= known


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
    seen = effective_env(trained.config).scene_obs
    for number, episode in enumerate(follow_clips(trained, trial, options.show, options.seconds), 1):
        figures.contact_timeline(episode).savefig(out / f"contacts-{number}.png", dpi=130)
        if options.html:
            save_page(out / f"playback-{number}.html", [show_episode(episode, seen)])
        if options.video:
            save_episode(out / f"episode-{number}.npz", episode)
            trouble = render(out / f"episode-{number}.npz", out / f"video-{number}.mp4")
            if trouble:
                print(f"no video: {trouble}", file=sys.stderr)
