"""The clips that a command names: built-in ones (built once, then kept in a cache), files, folders, whole scenes."""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from qes_jax.assembly.settings import RunConfig
from qes_jax.authoring.catalogue import RECIPES, build, category, get_recipe, names
from qes_jax.authoring.library import LIBRARY
from qes_jax.model.scene import Scene
from qes_jax.model.scene_file import is_scene_file, read_scene
from qes_jax.motion.clip import Clip, ClipError, load_clip, save_clip
from qes_jax.motion.library import SAME_HEIGHT, load_clips, rescale_clip
from qes_jax.motion.mirror import mirror_clip
from qes_jax.motion.place import clips_in_room, fits_shapes
from qes_jax.paths import cache_dir, mjcf_dir


def get_clips(config: RunConfig) -> list[Clip]:
    """The clips a run trains on, mirror images last."""
    clips = in_scenes(config.scene) if config.scene else find_clips(config.clips)
    return clips + [mirror_clip(c) for c in clips] if config.mirror else clips


def of_height(clips: Sequence[Clip], height: float) -> list[Clip]:
    """The clips for a body of `height` [m]; those of other people are scaled, which is said.

    Raises ClipError at furniture, which comes in one size.
    """
    return [c if abs(c.height - height) <= SAME_HEIGHT else _scaled(c, height) for c in clips]


def _scaled(clip: Clip, height: float) -> Clip:
    try:
        scaled = rescale_clip(clip, height)
    except ClipError as error:
        raise ClipError(
            f"{error}, import_motion --height {height:g} (or train a body of that height: "
            f"--character.height {clip.height:g})"
        ) from None
    print(f"{clip.name}: scaled from a person of {clip.height:g} m to {height:g} m", file=sys.stderr, flush=True)
    return scaled


def in_scenes(words: Sequence[str]) -> list[Clip]:
    """Built-in training clips of the scenes named; for a scene from a file, those moved there that fit."""
    files, known = [w for w in words if is_scene_file(w)], [w for w in words if not is_scene_file(w)]
    return find_clips(scene_clips(known)) + [clip for file in files for clip in room_clips(read_scene(file), file)]


def room_clips(room: Scene, where: str) -> list[Clip]:
    """Training clips of our own at each place of a room where they fit. Raises ValueError where none does."""
    scenes = scenes_for_rooms()
    clips = clips_in_room(find_clips([name for name, scene in scenes.items() if fits_shapes(scene, room)]), room)
    if not clips:
        kinds = ", ".join(sorted(_kinds(scenes)))
        raise ValueError(f"{where}: no built-in clip fits this room; they use {kinds}. Give your own: --clips")
    print(f"{where}: {', '.join(c.name for c in clips)}", flush=True)
    return clips


def scenes_for_rooms() -> dict[str, Scene]:
    """Scenes of the built-in training clips, and of the library's with furniture that no built-in one uses."""
    own = {name: RECIPES[name].scene for name in names(False)}
    library = {name: get_recipe(name).scene for name in LIBRARY if not get_recipe(name).held_out}
    return own | {name: scene for name, scene in library.items() if _kinds({name: scene}) - _kinds(own)}


def _kinds(scenes: Mapping[str, Scene]) -> set[str]:
    return {piece.kind for scene in scenes.values() for piece in scene.pieces}


def scene_clips(scenes: Sequence[str], held_out: bool = False) -> list[str]:
    """Training (or held-out) clips of the scenes named: built-in ones, the library's where there are none.

    "all" are all built-in ones. Raises ValueError that lists the scenes.
    """
    own = {name: RECIPES[name].scene.name for name in names(held_out)}
    library = {name: get_recipe(name).scene.name for name in LIBRARY if get_recipe(name).held_out == held_out}
    found: list[str] = []
    for scene in scenes:
        members = [n for n in own if scene in ("all", own[n])] or [n for n in library if scene == library[n]]
        if not members:
            known = sorted({*own.values(), *library.values()})
            raise ValueError(f"no clip in scene {scene!r}: expected some of {', '.join(known)}, or all")
        found += members
    return list(dict.fromkeys(found))


def own_clips(word: str) -> list[str]:
    """Clips of this project's own that a word names: one clip, or the training clips of a family or a category."""
    if word in RECIPES or word in LIBRARY:
        return [word]
    members = [n for n, (family, _) in LIBRARY.items() if word in (family.name, category(n))]
    return [n for n in members if not get_recipe(n).held_out]


def held_out_names(config: RunConfig) -> list[str]:
    """Our own held-out clips of what a run trains on: those of a category and a scene that its own clips are of.

    Raises ValueError where none of its clips is our own.
    """
    words = scene_clips([w for w in config.scene if not is_scene_file(w)]) if config.scene else config.clips
    kinds = {_kind(name) for word in words for name in own_clips(word)}
    found = [name for name in [*RECIPES, *LIBRARY] if get_recipe(name).held_out and _kind(name) in kinds]
    if not found:
        raise ValueError("no clip of our own is held out from what this policy was trained on: name some with --clips")
    return found


def _kind(name: str) -> tuple[str, str]:
    return category(name), get_recipe(name).scene.name


def find_clips(words: Sequence[str]) -> list[Clip]:
    """Our own clips by name, family or category, others from files and folders.

    Raises FileNotFoundError that lists the built-in names.
    """
    return [clip for word in words for clip in [built_in(n) for n in own_clips(word)] or _load(word)]


def built_in(name: str) -> Clip:
    """A clip of our own from the cache, built anew where this version of the code has not built it yet."""
    path = _cache() / f"{name}.npz"
    try:
        return load_clip(path)
    except (FileNotFoundError, ClipError):
        print(f"building clip {name} ...", file=sys.stderr, flush=True)
        clip = build(name)
        save_clip(path, clip)
        return clip


def _load(word: str) -> list[Clip]:
    try:
        return load_clips([word])
    except ClipError as error:
        if Path(word).exists():
            raise
        known = f"built-in clips are: {', '.join(RECIPES)}, and the library's (docs/library.md)"
        raise FileNotFoundError(f"{error}; {known}") from None


def _cache() -> Path:
    """A folder of the user's cache for exactly this code: named by a checksum of all that makes clips."""
    package = Path(__file__).resolve().parents[1]
    sources = [*package.glob("authoring/**/*.py"), *package.glob("motion/*.py"), *package.glob("model/*.py")]
    digest = hashlib.sha256()
    for path in sorted(sources) + sorted(mjcf_dir().rglob("*.xml")):
        digest.update(path.read_bytes())
    return cache_dir() / "clips" / digest.hexdigest()[:16]
