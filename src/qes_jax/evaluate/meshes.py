"""Triangles of a model's bodies, from its primitives."""

from typing import cast

import mujoco
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation
from trimesh.visual import ColorVisuals

GEOM = mujoco.mjtGeom


def body_mesh(m: mujoco.MjModel, body: int, color: tuple[int, int, int] | None = None) -> trimesh.Trimesh | None:
    """All geoms of a body in its frame [m], in its colours or in `color` (0 to 255); None if none is to be seen."""
    first, count = m.body_geomadr[body], m.body_geomnum[body]
    geoms = [g for g in range(first, first + count) if m.geom_rgba[g, 3] > 0 and m.geom_group[g] < 3]
    parts = [part for g in geoms if (part := _primitive(GEOM(m.geom_type[g]), m.geom_size[g])) is not None]
    for g, part in zip(geoms, parts, strict=True):
        part.apply_transform(_transform(m.geom_pos[g], m.geom_quat[g]))
        rgb = 255 * m.geom_rgba[g, :3] if color is None else color
        if GEOM(m.geom_type[g]) in (GEOM.mjGEOM_BOX, GEOM.mjGEOM_CYLINDER):
            part.unmerge_vertices()  # so that its edges stay sharp where the rest is shaded smoothly
        color_of = np.append(rgb, 255).astype(np.uint8)
        part.visual = ColorVisuals(part, vertex_colors=np.tile(color_of, (len(part.vertices), 1)))
    return cast(trimesh.Trimesh, trimesh.util.concatenate(parts)) if parts else None


def _primitive(kind: mujoco.mjtGeom, size: np.ndarray) -> trimesh.Trimesh | None:
    """A geom in its own frame, centred as MuJoCo has it. Raises ValueError for a kind that no body of ours has."""
    if kind == GEOM.mjGEOM_SPHERE:
        return trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    if kind == GEOM.mjGEOM_CAPSULE:
        return trimesh.creation.capsule(height=2 * size[1], radius=size[0], count=[12, 12])
    if kind == GEOM.mjGEOM_CYLINDER:
        return trimesh.creation.cylinder(radius=size[0], height=2 * size[1], sections=32)
    if kind == GEOM.mjGEOM_BOX:
        return trimesh.creation.box(extents=2 * size)
    if kind == GEOM.mjGEOM_ELLIPSOID:
        return trimesh.creation.icosphere(subdivisions=2).apply_scale(size)
    raise ValueError(f"cannot draw a geom of type {kind.name}")


def _transform(pos: np.ndarray, quat: np.ndarray) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_quat(quat, scalar_first=True).as_matrix(), pos
    return out
