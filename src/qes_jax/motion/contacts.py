"""Contact labels: which link touches which object at each frame of a reference motion, and a file that corrects them.

A link touches an object where one of its geoms is within NEAR of the object's surface and slower than SLOW relative to
the object. Without the second condition a swinging foot would count as standing: it clears the floor by one or two
centimetres only (Winter 1992), but passes at 2 to 4 m/s, where a standing foot, a leaning hand or a sitting pelvis
keeps well below 0.5 m/s.
"""

from functools import partial
from pathlib import Path

import jax
import mujoco
import numpy as np
from mujoco import mjx

from qes_jax.model.world import World
from qes_jax.motion.clip import FPS

NEAR = 0.02  # [m] our choice: about the error of motion capture
SLOW = 0.8  # [m/s] our choice, see above
CHUNK = 128  # frames a call, one compilation for any length


class CorrectionError(ValueError):
    """A corrections file that cannot be used; the message names file and line."""


def label_contacts(
    world: World, qpos: np.ndarray, near: float = NEAR, slow: float = SLOW, fps: float = FPS
) -> np.ndarray:
    """(T, L, O) uint8 labels of qpos (T, nq) at `fps` [Hz], the pieces standing where the world has them.

    Distances [m] come from MJX's collision functions, speeds [m/s] from central differences of geom positions.
    """
    link_of, object_of = _owners(world)
    close, geoms, geom_pos, body_pos, body_mat = _query(world, qpos, near)
    link, obj = link_of[geoms].max(axis=1), object_of[geoms].max(axis=1)  # one of a pair has a link, one an object
    mine, theirs = np.where(link_of[geoms[:, :1]] >= 0, geoms, geoms[:, ::-1]).T
    on = world.plain.geom_bodyid[theirs]  # a chair's seat, not its base, which does not turn with the sitter
    seen = np.einsum("tcji,tcj->tci", body_mat[:, on], geom_pos[:, mine] - body_pos[:, on])  # in the object's frame
    speed = np.linalg.norm(np.gradient(seen, 1.0 / fps, axis=0), axis=-1)
    labels = np.zeros((len(qpos), len(world.layout.links), len(world.layout.objects)), np.uint8)
    for c in range(len(geoms)):
        labels[:, link[c], obj[c]] |= (close[:, c] & (speed[:, c] <= slow)).astype(np.uint8)
    return labels


def _owners(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Link of each geom or -1, object of each geom or -1."""
    m, layout = world.plain, world.layout
    link_of_body, object_of_body = np.full(m.nbody, -1), np.full(m.nbody, -1)
    link_of_body[layout.link_ids + 1] = np.arange(len(layout.links))
    object_of_body[1:] = np.where(layout.body_object > 0, layout.body_object, -1)
    object_of_body[0] = 0  # the floor
    return link_of_body[m.geom_bodyid], object_of_body[m.geom_bodyid]


def _query(world: World, qpos: np.ndarray, near: float) -> tuple[np.ndarray, ...]:
    """Close or not (T, C), pairs of geoms (C, 2), geom positions (T, G, 3), body positions and axes (T, B, 3[, 3])."""
    model = mjx.put_model(world.plain)
    # MJX tells a distance only where geoms overlap: the character's (spheres and capsules) are made thicker by `near`.
    model = model.replace(geom_size=model.geom_size.at[_thickened(world.plain), 0].add(near))
    # The one static field that depends on a piece's size (for height fields): equal for all, to share compilations.
    model = model.tree_replace({"_impl.geom_rbound_hfield": np.zeros(world.plain.ngeom)})
    placement = np.asarray(world.placement(), np.float32)
    padded = np.concatenate([qpos, np.repeat(qpos[-1:], -len(qpos) % CHUNK, axis=0)]).astype(np.float32)
    chunks = [jax.device_get(_collide(model, placement, part)) for part in padded.reshape(-1, CHUNK, padded.shape[1])]
    dist, geoms, *poses = zip(*chunks, strict=True)
    near_enough = np.concatenate(dist)[: len(qpos)] <= 0
    return near_enough, geoms[0][0], *(np.concatenate(p)[: len(qpos)] for p in poses)


def _thickened(m: mujoco.MjModel) -> np.ndarray:
    """The character's geoms that collide (contype 1). Raises ValueError if one is neither sphere nor capsule."""
    ids = np.flatnonzero(m.geom_contype == 1)
    for i in ids:
        if mujoco.mjtGeom(m.geom_type[i]) not in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE):
            raise ValueError(f"geom {m.geom(i).name!r}: contacts are labelled for spheres and capsules only")
    return ids


@jax.jit
@partial(jax.vmap, in_axes=(None, None, 0))
def _collide(model: mjx.Model, placement: jax.Array, qpos: jax.Array) -> tuple[jax.Array, ...]:
    """Distances and geoms of all candidate contacts, and poses. Worlds of equal make-up share a compilation."""
    data = mjx.make_data(model).replace(qpos=qpos, mocap_pos=placement[:, :3], mocap_quat=placement[:, 3:])
    data = mjx.collision(model, mjx.kinematics(model, data))
    contact = data._impl.contact
    return contact.dist, contact.geom, data.geom_xpos, data.xpos, data.xmat


def correct_contacts(labels: np.ndarray, path: str | Path, world: World) -> np.ndarray:
    """A copy of labels (T, L, O) with a text file's corrections applied in their order.

    One correction a line, `frames FIRST-LAST: LINK OBJECT on|off`, both frames included; `#` begins a comment. Raises
    CorrectionError that names file and line.
    """
    labels = labels.copy()
    for number, line in enumerate(Path(path).read_text(errors="replace").splitlines(), start=1):
        text = line.split("#")[0].strip()
        if text:
            try:
                first, last, link, obj, value = _parse_correction(text, len(labels), world)
            except ValueError as error:
                raise CorrectionError(f"{path}, line {number}: {error}") from None
            labels[first : last + 1, link, obj] = value
    return labels


def _parse_correction(text: str, n_frames: int, world: World) -> tuple[int, int, int, int, int]:
    head, colon, tail = text.partition(":")
    words, fields = head.split(), tail.split()
    span = words[1].partition("-") if len(words) == 2 else ("", "", "")
    if not colon or words[:1] != ["frames"] or not (span[0].isdigit() and span[2].isdigit()) or len(fields) != 3:
        raise ValueError(f"expected 'frames FIRST-LAST: LINK OBJECT on|off', got {text!r}")
    first, last, (link, obj, value) = int(span[0]), int(span[2]), fields
    if not first <= last < n_frames:
        raise ValueError(f"frames {first}-{last} do not lie in order within 0-{n_frames - 1}")
    for kind, name, names in (("link", link, world.layout.links), ("object", obj, world.layout.objects)):
        if name not in names:
            raise ValueError(f"unknown {kind} {name!r}, expected one of {', '.join(names)}")
    if value not in ("on", "off"):
        raise ValueError(f"expected on or off, got {value!r}")
    return first, last, world.layout.links.index(link), world.layout.objects.index(obj), int(value == "on")
