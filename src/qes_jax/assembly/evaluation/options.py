"""What to evaluate, and what to write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Options:
    """Follow users without randomisation from many start frames; write errors, success, plots and a 3-D playback."""

    run: tyro.conf.Positional[str] = "latest"
    """A run folder, its name below root, "latest", or the name of shipped weights."""
    starts: Literal["all"] | int = 128
    """How many start frames, an even sample of all frames; or all of them."""
    clips: Annotated[tuple[str, ...], tyro.conf.arg(metavar="CLIP ...")] = ()
    """Built-in clips by name, clip files or folders of them. Without any: those of the training."""
    held_out: bool = False
    """Our own clips of the kinds that it was trained on, held out from training."""
    recording: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE ...")] = ()
    """Recordings of a headset and two controllers (.json, .csv), or tracks of them (.npz); it starts in the A-pose."""
    scene: str = "flat"
    """The room that the recordings are followed in."""
    seconds: float = 30.0
    """How long each start is followed; 30 s are what the metrics need."""
    places: int = 0
    """Follow each start also in so many rooms whose furniture stands elsewhere."""
    place_spread: float = 0.08
    """[m] how far at most, along each axis, turned alike; 0.08 is the range of training."""
    show: int = 3
    """Episodes to be shown: one each of the first clips, from its first frame."""
    html: bool = True
    """Write playback-N.html."""
    video: bool = False
    """Write video-N.mp4, where OpenGL is to be had."""
    json: Path | None = None
    """Write the results there too."""
    out: Path | None = None
    """Folder of all that is written; the run's results/ if not given."""
    export: Path | None = None
    """Write the weights alone into this folder, in the form in which they are shipped."""
    root: Path = Path("runs")
    """Where run folders lie."""


@dataclass(frozen=True)
class FolderOptions:
    """Follow every recording of a folder, whatever its formats; tell by group where a policy fails.

    Recordings are imported once, results kept by policy: an interrupted command goes on where it was.
    """

    run: tyro.conf.Positional[str]
    """A run folder, its name below root, "latest", or the name of shipped weights."""
    folder: tyro.conf.Positional[Path]
    """Recordings at any depth: BVH, ASF/AMC, glTF, AMASS, DeepMimic, points, headsets, clips of ours."""
    groups: str | None = None
    """A regular expression whose groups find what a recording is of in its path, or parts of its name between
    underscores by number ("2,3"): a table each. By sub-folder without."""
    limit: int | None = None
    """At most so many recordings, evenly taken of all."""
    starts: int = 4
    """How many start frames of each recording, at even distances."""
    seconds: float = 30.0
    """How long each start is followed; shorter recordings are continued."""
    workers: int = 1
    """Processes that import."""
    clips: Path | None = None
    """Where imported clips are kept; below out if not given."""
    out: Path | None = None
    """Folder of all that is written; ROOT/RUN-on-FOLDER if not given."""
    root: Path = Path("runs")
    """Where run folders lie."""
