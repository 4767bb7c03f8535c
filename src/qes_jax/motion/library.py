"""The library: clips on disk, their split, and all of them end to end as arrays in one world that furnishes any."""

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import PARKED, Scene, union
from qes_jax.model.world import SIM_DT, World, build_world
from qes_jax.motion.clip import Clip, ClipError, load_clip
from qes_jax.motion.mirror import SUFFIX

SAME_HEIGHT = 1e-3  # [m]


class Reference(NamedTuple):
    """C clips end to end, N frames in all, in a world of L links and O objects (floor first). Float32 unless said."""

    qpos: jax.Array  # (N, nq); the joints of pieces that a clip lacks are at home
    qvel: jax.Array  # (N, nv) from this frame to the next
    link_pos: jax.Array  # (N, L, 3) [m]
    link_quat: jax.Array  # (N, L, 4)
    link_vel: jax.Array  # (N, L, 3) of the link frames' origins, world axes, central differences [m/s]
    link_angvel: jax.Array  # (N, L, 3) world axes, central differences [rad/s]
    contact: jax.Array  # (N, L, O) 0 or 1
    sensor_pos: jax.Array  # (N, 3, 3) headset, left, right controller [m]
    sensor_quat: jax.Array  # (N, 3, 4)
    clip_of_frame: jax.Array  # (N,) int32
    start: jax.Array  # (C,) int32 first frame of each clip
    length: jax.Array  # (C,) int32 frames
    placement: jax.Array  # (C, O-1, 7) where the clip has each piece, scene.PARKED where it has none
    present: jax.Array  # (C, O-1) bool
    body_known: jax.Array  # (C,) bool, False where only the sensors were recorded


def world_for(
    clips: Sequence[Clip], actuation: Literal["torque", "pd"] = "torque", sim_dt: float = SIM_DT,
    also: Sequence[Scene] = (),
) -> World:  # fmt: skip
    """The smallest world that furnishes each of the clips. Raises ClipError where they do not share one body.

    `also` are scenes to furnish besides, whose pieces come first.
    """
    check_alike(clips)
    pieces, _ = union([*also, *(c.scene for c in clips)])
    return build_world(CharacterConfig(clips[0].height, actuation), pieces, sim_dt)


def check_alike(clips: Sequence[Clip]) -> None:
    """Raise ClipError unless there are clips, and all are of one height and one frame rate."""
    if not clips:
        raise ClipError("no clips")
    first = clips[0]
    for clip in clips[1:]:
        if abs(clip.height - first.height) > SAME_HEIGHT:
            raise ClipError(
                f"clips {first.name!r} and {clip.name!r} are of a {first.height} m and a {clip.height} m body: "
                "retarget to one height, or use rescale_clip"
            )
        if clip.fps != first.fps:
            raise ClipError(
                f"clips {first.name!r} and {clip.name!r} are at {first.fps} and {clip.fps} Hz: resample to one"
            )


def pack(clips: Sequence[Clip], world: World) -> Reference:
    """All clips' frames in the coordinates of a world that has their pieces. Raises ClipError where it lacks one."""
    check_alike(clips)
    if abs(clips[0].height - world.character.height) > SAME_HEIGHT:
        raise ClipError(
            f"clip {clips[0].name!r}: height {clips[0].height} m, the world's body has {world.character.height} m"
        )
    rows = [_frames(c, world, _assign(c, world)) for c in clips]
    frames = {k: jnp.asarray(np.concatenate([r[k] for r in rows]), jnp.float32) for k in rows[0]}
    length = np.array([c.n_frames for c in clips], np.int32)
    placement = np.tile(np.array(PARKED, np.float32), (len(clips), len(world.pieces), 1))
    present = np.zeros(placement.shape[:2], bool)
    for c, clip in enumerate(clips):
        for piece, index in zip(clip.scene.pieces, _assign(clip, world), strict=True):
            placement[c, index], present[c, index] = piece.placement(), True
    return Reference(
        **frames,
        clip_of_frame=jnp.asarray(np.repeat(np.arange(len(clips), dtype=np.int32), length)),
        start=jnp.asarray(np.cumsum(length, dtype=np.int32) - length), length=jnp.asarray(length),
        placement=jnp.asarray(placement), present=jnp.asarray(present),
        body_known=jnp.asarray([c.body_known for c in clips]),
    )  # fmt: skip


def _assign(clip: Clip, world: World) -> list[int]:
    """For each piece of the clip the world's piece that plays it: the first of its kind and size that is still free."""
    taken: list[int] = []
    for piece in clip.scene.pieces:
        fits = (i for i, p in enumerate(world.pieces) if p.shape == piece.shape and i not in taken)
        index = next(fits, None)
        if index is None:
            raise ClipError(
                f"clip {clip.name!r}: the world has no piece for {piece.name!r} ({piece.kind}, size {piece.size})"
            )
        taken.append(index)
    return taken


def _frames(clip: Clip, world: World, assigned: list[int]) -> dict[str, np.ndarray]:
    """The clip's rows of the fields of Reference that go by frame."""
    m, frames = world.plain, clip.n_frames
    q_rows, v_rows = coordinates(world, assigned)
    for field, rows in (("qpos", q_rows), ("qvel", v_rows)):
        if getattr(clip, field).shape[1] != len(rows):
            raise ClipError(
                f"clip {clip.name!r}: {field} has {getattr(clip, field).shape[1]} columns, its scene {len(rows)}"
            )
    links, known = clip.link_pos.shape[1], len(world.layout.links)
    if links != known:
        raise ClipError(f"clip {clip.name!r}: {links} links, the character has {known}")
    qpos, qvel = np.tile(world.layout.home_qpos, (frames, 1)), np.zeros((frames, m.nv))
    qpos[:, q_rows], qvel[:, v_rows] = clip.qpos, clip.qvel
    contact = np.zeros((*clip.contact.shape[:2], len(world.layout.objects)))
    contact[:, :, [0, *(1 + i for i in assigned)]] = clip.contact
    return {
        "qpos": qpos, "qvel": qvel, "link_pos": clip.link_pos, "link_quat": clip.link_quat,
        "link_vel": linear_velocity(clip.link_pos, clip.fps), "link_angvel": angular_velocity(clip.link_quat, clip.fps),
        "contact": contact, "sensor_pos": clip.sensor_pos, "sensor_quat": clip.sensor_quat,
    }  # fmt: skip


def coordinates(world: World, assigned: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where the world has a clip's columns of qpos and qvel: the body's, then its pieces' in the clip's order."""
    m, owner = world.plain, world.layout.body_object
    owner_q = np.repeat(owner[m.jnt_bodyid - 1], np.diff([*m.jnt_qposadr, m.nq]).astype(int))
    owner_v = owner[m.dof_bodyid - 1]
    order = (0, *(1 + i for i in assigned))
    q_rows, v_rows = (np.concatenate([np.flatnonzero(o == n) for n in order]) for o in (owner_q, owner_v))
    return q_rows, v_rows


def linear_velocity(pos: np.ndarray, fps: float) -> np.ndarray:
    """Central differences of pos (T, ..., 3), one-sided at the ends [m/s]."""
    return np.gradient(pos.astype(np.float64), 1.0 / fps, axis=0)


def angular_velocity(quat: np.ndarray, fps: float) -> np.ndarray:
    """World-axes angular velocity of quat (T, ..., 4) [rad/s]: log(q[t+1] q[t-1]^-1) / 2 dt, one-sided at the ends."""
    after, before = np.concatenate([quat[1:], quat[-1:]]), np.concatenate([quat[:1], quat[:-1]])
    span = np.full(len(quat), 2.0 / fps)
    span[[0, -1]] = 1.0 / fps
    to, back = (Rotation.from_quat(q.reshape(-1, 4), scalar_first=True) for q in (after, before))
    turn = (to * back.inv()).as_rotvec().reshape(*quat.shape[:-1], 3)
    return turn / span.reshape(-1, *[1] * (quat.ndim - 1))


def load_clips(where: str | Path | Iterable[str | Path]) -> list[Clip]:
    """Clips of files, folders (their *.npz) and glob patterns, in order of their paths.

    Raises ClipError that says what was found instead where a source has no clip, or names two files that hold one clip.
    """
    sources = [where] if isinstance(where, str | Path) else list(where)
    paths = sorted({p.resolve() for source in sources for p in _clip_files(Path(source))})
    clips: dict[str, tuple[Path, Clip]] = {}
    for path in paths:
        clip = load_clip(path)
        if clip.name in clips:
            raise ClipError(f"{clips[clip.name][0]} and {path}: both are named {clip.name!r}")
        clips[clip.name] = path, clip
    return [clip for _, clip in clips.values()]


def _clip_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if source.is_dir():
        files, there = sorted(source.glob("*.npz")), sorted(p.name for p in source.iterdir())
    else:
        files = [Path(p) for p in glob(str(source)) if Path(p).is_file()]
        there = sorted(p.name for p in source.parent.iterdir()) if source.parent.is_dir() else ["no such folder"]
    if not files:
        raise ClipError(f"{source}: no clips (*.npz); found there: {', '.join(there[:20]) or 'nothing'}")
    return files


def split_clips(
    clips: Sequence[Clip], test_share: float = 0.2, test: Sequence[str] | None = None
) -> tuple[list[Clip], list[Clip]]:
    """(train, test) by clip. A clip and its mirror twin always fall on the same side.

    `test` names the test clips (either twin). Without it a hash of a clip's name below `test_share` makes it one, so
    that its side does not depend on what else there is; only where a side is empty does the nearest clip change over.
    """
    groups = sorted({_group(c.name) for c in clips}, key=_hash)
    if test is not None:
        wanted = {_group(name) for name in test}
        if not wanted <= set(groups):
            raise ClipError(
                f"no clips named {sorted(wanted - set(groups))} to test on: expected some of {sorted(groups)}"
            )
    else:
        count = sum(_hash(g) < test_share for g in groups)
        if 0 < test_share < 1:
            count = min(max(count, 1), len(groups) - 1)
        wanted = set(groups[:count])
    return [c for c in clips if _group(c.name) not in wanted], [c for c in clips if _group(c.name) in wanted]


def _group(name: str) -> str:
    return name.removesuffix(SUFFIX)


def _hash(name: str) -> float:
    """A number in [0, 1) that depends on the name alone."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48


def rescale_clip(clip: Clip, height: float) -> Clip:
    """The clip for a body of another height [m]: all lengths scaled alike, boxes too, angles, contacts and timing kept.

    Raises ClipError where the scene has furniture, which comes in one size.
    """
    s = height / clip.height
    fixed = [p.name for p in clip.scene.pieces if p.size is None]
    if fixed:
        raise ClipError(f"clip {clip.name!r}: {fixed} come in one size, so the clip cannot be rescaled: retarget it")
    pieces = [
        dataclasses.replace(p, pos=tuple(s * x for x in p.pos), size=tuple(s * x for x in p.size or ()))
        for p in clip.scene.pieces
    ]
    qpos, qvel = clip.qpos.copy(), clip.qvel.copy()
    qpos[:, :3] *= s
    qvel[:, :3] *= s
    return dataclasses.replace(
        clip, height=height, scene=Scene(clip.scene.name, tuple(pieces)), qpos=qpos, qvel=qvel,
        link_pos=(clip.link_pos * s).astype(np.float32), sensor_pos=(clip.sensor_pos * s).astype(np.float32),
    )  # fmt: skip
