"""From the words of a command line to motions that are shown, served or written."""

import math
import sys
import tempfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.render import render
from qes_jax.assembly.settings import effective_env
from qes_jax.assembly.trained import Trained, find_trained, load_trained
from qes_jax.assembly.trial import follow_clips, make_trial, read_recording
from qes_jax.assembly.viewing.options import Options
from qes_jax.authoring.catalogue import RECIPES
from qes_jax.env.config import SceneObsConfig
from qes_jax.evaluate.episode import Episode, load_episode, save_episode
from qes_jax.evaluate.view.live import serve
from qes_jax.evaluate.view.page import save_page
from qes_jax.evaluate.view.show import Show, show_clip, show_episode
from qes_jax.evaluate.view.stage import Arrangement
from qes_jax.files import BROKEN, check_target
from qes_jax.motion.clip import Clip
from qes_jax.motion.sensors import READERS

Found = Trained | Clip | Episode


def view(options: Options, things: Sequence[Found | None] = ()) -> None:
    """Show what the options name, or in its place what `things` holds. OSError or ValueError say what there is."""
    for field in ("seconds", "start", "beside", "apart"):
        if not math.isfinite(getattr(options, field)):
            raise ValueError(f"--{field} {getattr(options, field)}: expected a number")
    if not all(math.isfinite(moment) for moment in options.at):
        raise ValueError(f"--at {' '.join(map(str, options.at))}: expected numbers")
    if options.every < 1:
        raise ValueError(f"--every {options.every}: expected at least 1")
    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port}: expected 0 to 65535")
    if not 1 <= len(options.what) <= 2:
        raise ValueError(f"{len(options.what)} things to look at: expected one or two")
    if options.scene != Options.scene and not (options.clip and is_recording(options.clip)):
        raise ValueError(f"--scene {options.scene}: only for a recording of devices, given as --clip")
    check_target(options.html, options.picture)
    found = [t or find(word, options.root) for word, t in zip_longest(options.what, things[: len(options.what)])]
    if options.picture:
        picture(options, found)
        return
    shows = [show(thing, found, options) for thing in found]
    arrangement = Arrangement(options.beside, options.apart, options.follow)
    if options.html:
        size = save_page(options.html, shows, options.every, arrangement)
        print(f"written to {options.html}, {size / 1e6:.1f} MB")
        return
    try:
        serve(shows, options.port, arrangement, tell)
    except KeyboardInterrupt:
        print("\nended")


def tell(address: str) -> None:
    """Say where to look."""
    print(f"open {address} (Ctrl-C ends)", flush=True)


def find(word: str, root: Path) -> Found:
    """The policy, clip or episode that a word names. Raises FileNotFoundError that lists the policies and clips."""
    name = word.removeprefix("clip:")
    if name == word and not Path(word).is_file():
        try:
            trained = load_trained(find_trained(root, word))
            print(f"{word}: the policy in {trained.folder.path}", file=sys.stderr)
            return trained
        except FileNotFoundError as error:
            if word not in RECIPES:
                raise FileNotFoundError(f"{error}; built-in clips are: {', '.join(RECIPES)}") from None
    if is_episode(Path(name)):
        return load_episode(Path(name))
    return the_clip(name)


def is_episode(path: Path) -> bool:
    """Whether a file is a recorded episode rather than a clip."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return "reference_qpos" in file.files
    except (*BROKEN, AttributeError):
        return False


def the_clip(word: str) -> Clip:
    """The one clip that a word names. Raises ValueError where there are more."""
    clips = find_clips([word])
    if len(clips) != 1:
        raise ValueError(f"{word}: {len(clips)} clips ({', '.join(c.name for c in clips[:8])}, ...), name one of them")
    return clips[0]


def show(thing: Found, found: list[Found], options: Options) -> Show:
    """What is to be seen of one thing among all that were found."""
    if isinstance(thing, Clip):
        return show_clip(thing, SceneObsConfig() if options.map == "yes" else None)
    if isinstance(thing, Episode):
        return show_episode(thing)
    seen = effective_env(thing.config).scene_obs if options.map == "yes" else None
    episode = follow(thing, found, options)
    return show_episode(episode, seen, f"{thing.folder.name}: {episode.name.removesuffix(' from 0.0 s')}")


def follow(trained: Trained, found: list[Found], options: Options) -> Episode:
    """The policy on the clip asked for, on the other thing if that is a clip, or on its own first clip."""
    others = [c for c in found if isinstance(c, Clip)]
    clip = asked(trained, options) or next(iter(others), None) or trained.own_clips()[0]
    seconds = min(options.seconds, clip.duration - options.start)
    if options.start < 0 or options.start >= clip.duration:
        raise ValueError(f"--start {options.start:g}: {clip.name} lasts {clip.duration:.1f} s")
    if seconds <= 0:
        raise ValueError(f"--seconds {options.seconds:g}: expected more than 0")
    print(f"{trained.folder.name} follows {clip.name} for {seconds:.1f} s (compiling first)", file=sys.stderr)
    return follow_clips(trained, make_trial(trained, [clip], clip.duration), 1, seconds, options.start)[0]


def asked(trained: Trained, options: Options) -> Clip | None:
    """What --clip names."""
    if options.clip is None:
        return None
    if is_recording(options.clip):
        return read_recording(Path(options.clip), trained.config, options.scene)
    return the_clip(options.clip)


def is_recording(word: str) -> bool:
    """Whether a word is the name of a file of headset and controllers."""
    return Path(word).suffix.lower() in READERS


def picture(options: Options, found: list[Found]) -> None:
    """The strip of moments, of a policy or an episode. Raises ValueError where that cannot be."""
    thing = found[0]
    if isinstance(thing, Clip):
        raise ValueError(f"{options.what[0]}: pictures are made of policies and episodes")
    episode = thing if isinstance(thing, Episode) else follow(thing, found, options)
    assert options.picture
    with tempfile.TemporaryDirectory() as folder:
        save_episode(Path(folder) / "episode.npz", episode)
        trouble = render(Path(folder) / "episode.npz", options.picture, "--at", *(str(t) for t in options.at))
    if trouble:
        raise ValueError(f"no picture: {trouble}")
    print(f"written to {options.picture}")
