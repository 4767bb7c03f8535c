"""The clips that a command names: built-in ones (built once, then kept in a cache), files, folders, whole scenes."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from launch import cache_dir
from settings import RunConfig

import qes_jax
from qes_jax.authoring.catalogue import RECIPES, build, names
from qes_jax.motion.clip import Clip, ClipError, load_clip, save_clip
from qes_jax.motion.library import load_clips
from qes_jax.motion.mirror import mirror_clip
from qes_jax.paths import mjcf_dir


def get_clips(config: RunConfig) -> list[Clip]:
    """The clips a run trains on, mirror images last."""
    clips = find_clips(scene_clips(config.scene) if config.scene else config.clips)
    return clips + [mirror_clip(c) for c in clips] if config.mirror else clips


def scene_clips(scenes: Sequence[str], held_out: bool = False) -> list[str]:
    """Built-in training (or held-out) clips of the scenes named, or of "all". Raises ValueError that lists them."""
    known = sorted({RECIPES[name].scene.name for name in names(held_out)})
    unknown = sorted(set(scenes) - {*known, "all"})
    if unknown:
        raise ValueError(f"no built-in clip in scene {unknown[0]!r}: expected some of {', '.join(known)}, or all")
    return [name for name in names(held_out) if "all" in scenes or RECIPES[name].scene.name in scenes]


def find_clips(words: Sequence[str]) -> list[Clip]:
    """Built-in clips by name, others from files and folders. Raises FileNotFoundError that lists the built-in names."""
    return [clip for word in words for clip in ([built_in(word)] if word in RECIPES else _load(word))]


def built_in(name: str) -> Clip:
    """A built-in clip from the cache, built anew where this version of the code has not built it yet."""
    path = _cache() / f"{name}.npz"
    try:
        return load_clip(path)
    except (FileNotFoundError, ClipError):
        print(f"building clip {name} ...", flush=True)
        clip = build(name)
        save_clip(path, clip)
        return clip


def _load(word: str) -> list[Clip]:
    try:
        return load_clips([word])
    except ClipError as error:
        if Path(word).exists():
            raise
        raise FileNotFoundError(f"{error}; built-in clips are: {', '.join(RECIPES)}") from None


def _cache() -> Path:
    """A folder of the user's cache for exactly this code: named by a checksum of all that makes clips."""
    package = Path(qes_jax.__file__).parent
    sources = [*package.glob("authoring/**/*.py"), *package.glob("motion/*.py"), *package.glob("model/*.py")]
    digest = hashlib.sha256()
    for path in sorted(sources) + sorted(mjcf_dir().rglob("*.xml")):
        digest.update(path.read_bytes())
    return cache_dir() / "clips" / digest.hexdigest()[:16]
