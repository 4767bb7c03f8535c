"""One evaluation, from a trained policy to tables, plots and playback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
from qes_jax.evaluate.places import Moved, check_places, compare, furnished, track_moved
from qes_jax.evaluate.rollout import Progress, Tracked, select, track
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
    clips = asked(trained, options)
    moved = Moved(options.places, options.place_spread)
    check_places(clips, moved)
    measured = measure(trained, clips, options.starts, options.seconds)
    trial, found = measured.trial, measured.scores
    data = describe(trained, trial, options, measured.tracked.error.shape[1]) | by_threshold(found)
    text = str(measured)
    if moved.count:
        both = elsewhere(trained, measured, moved)
        data["elsewhere"] = {"places": moved.count, "place_spread": moved.spread, "thresholds": as_json(both)}
        text += f"\nIn {moved.count} unseen places, up to {moved.spread:g} m away:\n\n{tables.markdown(both)}"
    out = output_folder(trained, options)
    write_json(out / "results.json", data)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.json, data)
    write_text(out / "table.md", text)
    print(text, flush=True)
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
    starts: np.ndarray  # (B,) start frame of each episode

    def __str__(self) -> str:
        return tables.markdown(self.scores)


def measure(trained: Trained, clips: list[Clip], starts: int | Literal["all"], seconds: float) -> Measured:
    """Follow clips from so many even start frames of theirs, or from all, for `seconds` each."""
    trial = make_trial(trained, clips, seconds)
    frames = all_starts(trial.clips, trial.longer)
    frames = frames if starts == "all" else even_starts(frames, starts)
    tracked = follow(trained, trial, frames, round(seconds * trial.fps))
    names, clip = [c.name for c in trial.clips], clip_of_start(frames, trial.longer)
    return Measured(trial, tracked, tables.results(tracked, clip, names, trial.fps), frames)


def elsewhere(trained: Trained, measured: Measured, moved: Moved) -> tables.Results:
    """Of the clips with furniture the scores as measured, beside those of the same starts in unseen places."""
    trial, n_frames = measured.trial, len(measured.tracked.error)
    clip = clip_of_start(measured.starts, trial.longer)
    mask = furnished(trial.clips, clip)
    starts = measured.starts[mask]
    with progress_of(
        f"{len(starts)} starts in {moved.count} unseen places", moved.count * len(starts) * n_frames
    ) as tell:
        unseen = track_moved(
            trial.task, trial.params, trained.act, trained.policy, starts, n_frames, moved, progress=tell
        )
    return compare(select(measured.tracked, mask), unseen, clip[mask], [c.name for c in trial.clips], trial.fps)


def asked(trained: Trained, options: Options) -> list[Clip]:
    """The clips and recordings asked for, or those that the policy was trained on."""
    recordings = [read_recording(p, trained.config, options.scene) for p in options.recording]
    words = [*options.clips, *(held_out_names(trained.config) if options.held_out else ())]
    return find_clips(words) + recordings or trained.own_clips()


def follow(trained: Trained, trial: Trial, starts: np.ndarray, n_frames: int) -> Tracked:
    """Track from all starts, with progress on the error output."""
    with progress_of(f"{len(starts)} starts for {n_frames / trial.fps:.0f} s", len(starts) * n_frames) as progress:
        return track(trial.task, trial.params, trained.act, trained.policy, starts, n_frames, progress=progress)


@contextmanager
def progress_of(what: str, total: int) -> Iterator[Progress]:
    """Says on the error output what is followed, and how far of `total` steps it is."""
    print(f"following {what}", file=sys.stderr, flush=True)
    display = make_display(total, shown=(), unit="steps")
    display.busy("compiling")
    try:
        yield lambda done, _: display.update(done, {})
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
    values = as_json(found)
    first = next(iter(values))
    return {"threshold_m": float(first), **values[first][tables.OVERALL], "thresholds": values}


def as_json(found: tables.Results) -> dict[str, Any]:
    """JSON values by threshold, then by clip."""
    return {f"{t:g}": {name: tables.as_values(s) for name, s in by_clip.items()} for t, by_clip in found.items()}


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
