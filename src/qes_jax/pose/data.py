"""A data set of poses: any motions of the character, seen from the canonical frame, at 30 Hz, split by clip."""

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.model.world import World
from qes_jax.motion.frames import slerp
from qes_jax.motion.mirror import mirror_maps
from qes_jax.pose.canonical import enter, ground
from qes_jax.pose.figure import Figure, frames

FPS = 30.0  # [Hz]
PARTS = ("train", "validation", "test")  # settings are chosen on the second, the last is only reported on
CHUNK = 512  # poses that are computed at once


@dataclass(frozen=True)
class Source:
    """Where a clip's poses come from."""

    name: str
    source: str
    licence: str
    part: str  # one of PARTS
    poses: int


@dataclass(frozen=True)
class PoseSet:
    """M poses in canonical frames. Those of one clip stand in a row, in the order of time."""

    qpos: np.ndarray  # (M, 39) f32
    clip: np.ndarray  # (M,) int32 row among `sources`
    sources: tuple[Source, ...]

    def part(self, name: str) -> "PoseSet":
        """The poses of the clips of one of PARTS. Raises ValueError where it has none."""
        wanted = np.array([s.part == name for s in self.sources])
        rows = wanted[self.clip]
        if not rows.any():
            raise ValueError(f"no poses for {name}: more clips are needed, or others to be held out")
        return PoseSet(self.qpos[rows], self.clip[rows], self.sources)


def part_of(name: str, own: bool = False) -> str:
    """Which of PARTS a clip belongs to, by its name alone: it stays there whatever else comes or goes.

    Of our `own` clips the held-out ones, "test_", go half to validation and half to test. Of others a tenth goes to
    either; a checksum of the name decides.
    """
    digit = zlib.crc32(name.encode()) % 10
    if name.startswith("test_"):
        return PARTS[1 + digit % 2]
    return PARTS[0] if own or digit > 1 else PARTS[1 + digit]


def standard_poses(figure: Figure, qpos: np.ndarray, fps: float) -> np.ndarray:
    """(M, 39) f32 a motion (T, >= 39) at `fps` [Hz] as canonical poses at FPS."""
    qpos = resample(np.asarray(qpos, np.float64)[:, :39], fps)
    see = jax.jit(lambda q: enter(ground(figure, q), q))
    return in_chunks(see, qpos.astype(np.float32))


def resample(qpos: np.ndarray, fps: float) -> np.ndarray:
    """A motion (T, nq) at FPS: turns on the shorter way, everything else along a line."""
    times = np.arange(int((len(qpos) - 1) / fps * FPS + 1e-6) + 1) / FPS * fps
    first = np.minimum(times.astype(int), len(qpos) - 2)
    share = times - first
    rows = qpos[first] + share[:, None] * (qpos[first + 1] - qpos[first])
    rows[:, 3:7] = slerp(qpos[first, 3:7], qpos[first + 1, 3:7], share)
    return rows


def in_chunks(function, rows: np.ndarray) -> np.ndarray:
    """A function of poses (39, CHUNK), the poses being its last axis, applied to any number of rows (M, 39)."""
    padded = np.concatenate([rows, np.repeat(rows[-1:], -len(rows) % CHUNK, axis=0)])
    parts = [np.moveaxis(np.asarray(function(jnp.asarray(p.T))), -1, 0) for p in padded.reshape(-1, CHUNK, 39)]
    return np.concatenate(parts)[: len(rows)]


def points_of(figure: Figure, qpos: np.ndarray) -> np.ndarray:
    """(M, 22, 3) joints of poses (M, 39)."""
    return in_chunks(jax.jit(lambda q: frames(figure, q).points), np.asarray(qpos, np.float32))


def with_mirror_images(world: World, poses: PoseSet) -> PoseSet:
    """The poses, and behind them their mirror images as clips of their own."""
    maps, count = mirror_maps(world), len(poses.sources)
    image = (poses.qpos[:, maps.qpos_index[:39]] * maps.qpos_sign[:39]).astype(np.float32)
    both = np.concatenate([poses.clip, poses.clip + count]).astype(np.int32)
    return PoseSet(np.concatenate([poses.qpos, image]), both, poses.sources * 2)


def join(sets: list[tuple[Source, np.ndarray]]) -> PoseSet:
    """One set of the poses of several clips. Raises ValueError where there are none."""
    if not sets:
        raise ValueError("no poses: none of the files could be read as a motion")
    clip = np.concatenate([np.full(len(q), i, np.int32) for i, (_, q) in enumerate(sets)])
    return PoseSet(np.concatenate([q for _, q in sets]), clip, tuple(s for s, _ in sets))


def save_poses(path: Path, poses: PoseSet) -> None:
    """Write an npz; the sources are one JSON text in it."""
    meta = json.dumps([asdict(s) for s in poses.sources])
    save_npz(path, qpos=poses.qpos, clip=poses.clip, sources=np.array(meta))


def load_poses(path: Path) -> PoseSet:
    """Read it back. Raises ValueError that names the file, FileNotFoundError where there is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            sources = tuple(Source(**s) for s in json.loads(str(file["sources"])))
            poses = PoseSet(entry(file, "qpos"), entry(file, "clip"), sources)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such set of poses; make one: python experiments/pose.py data") from None
    except BROKEN as error:
        raise ValueError(f"{path}: not a set of poses that this code can read: {error}") from error
    if not all(type(s.poses) is int for s in poses.sources):
        raise ValueError(f"{path}: field sources: the number of poses is none")
    if poses.qpos.shape != (len(poses.clip), 39) or not np.isfinite(poses.qpos).all():
        raise ValueError(f"{path}: field qpos is {poses.qpos.shape}, expected ({len(poses.clip)}, 39) finite numbers")
    return poses


def pairs(
    poses: PoseSet, count: int, seconds: float, rng: np.random.Generator, chances: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (count,) of start poses, and of target poses from the same clip within `seconds` of them.

    As published: both are random frames of the same clip of one second. `chances` (M,) of each pose to be a start, even
    ones if not given.
    """
    sums = np.cumsum(np.ones(len(poses.qpos)) if chances is None else chances)
    start = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    reach = round(seconds * FPS)
    low = np.searchsorted(poses.clip, poses.clip[start], side="left")
    high = np.searchsorted(poses.clip, poses.clip[start], side="right") - 1
    return start, np.clip(start + rng.integers(-reach, reach + 1, count), low, high)


def evened(poses: PoseSet, power: float) -> np.ndarray:
    """(M,) chances by which a source of n poses is drawn from n^power as often: 1 as it comes, 0 every source alike.

    A source is what `Source.source` tells: one recording, or all clips of our own making.
    """
    names = sorted({s.source for s in poses.sources})
    source = np.array([names.index(s.source) for s in poses.sources])[poses.clip]
    return np.bincount(source, minlength=len(names))[source] ** (power - 1.0)
