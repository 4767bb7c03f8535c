"""A clip as a .glb that other programs open: the character as a skinned armature, the scene's pieces as meshes."""

from pathlib import Path
from typing import cast

import numpy as np
import trimesh
from trimesh.visual import ColorVisuals

from qes_jax.evaluate.meshes import body_mesh
from qes_jax.model.world import World
from qes_jax.motion.build import clip_world
from qes_jax.motion.clip import Clip
from qes_jax.motion.export import clip_skeleton, quats
from qes_jax.motion.formats.gltf_write import GltfWriter, Surface
from qes_jax.motion.formats.skeleton import SkeletonMotion, localised, rest, y_up
from qes_jax.motion.frames import rotation
from qes_jax.motion.rig import Rig

SHARP = np.radians(40.0)  # angle between faces above which an edge is one


def write_glb(path: str | Path, clip: Clip) -> None:
    """Write the motion at the clip's rate, with the body's own shapes and the furniture's; what moves, moves."""
    world = clip_world(clip)
    writer = GltfWriter(clip.name, clip.fps, clip.n_frames, f"{clip.licence} ({clip.source})")
    skeleton = clip_skeleton(clip)
    character = writer.add_node("Character")
    joints = writer.add_tree(skeleton, under=character)
    body = writer.add_node("Body", under=character)
    writer.add_mesh(body, _bound_surfaces(world, skeleton), skinned=True)
    writer.add_skin(body, skeleton, joints)
    if clip.scene.pieces:
        _add_pieces(writer, world, clip)
    writer.save(path)


def _bound_surfaces(world: World, skeleton: SkeletonMotion) -> list[Surface]:
    """The links' shapes in the rest pose's world, Y up, one surface a link and colour."""
    place, turn = rest(y_up(skeleton))
    surfaces = []
    for joint, link in enumerate(world.layout.link_ids):
        to_world = np.eye(4)
        to_world[:3, :3], to_world[:3, 3] = rotation(turn[joint]).as_matrix()[0], place[joint]
        surfaces += _surfaces(body_mesh(world.plain, int(link) + 1), to_world, joint)
    return surfaces


def _add_pieces(writer: GltfWriter, world: World, clip: Clip) -> None:
    """Bodies of furniture as a tree of nodes, which rest as in the first frame."""
    m = world.plain
    bodies = [b for b in range(1, m.nbody) if world.layout.body_object[b - 1] > 0]
    parents = tuple(bodies.index(m.body_parentid[b]) if m.body_parentid[b] in bodies else -1 for b in bodies)
    poses = Rig(world).poses(clip.qpos.astype(np.float64))
    pos, quat = localised(parents, poses.xpos[:, bodies], quats(poses.xmat[:, bodies]))
    names = tuple(m.body(b).name for b in bodies)
    tree = SkeletonMotion(clip.name, clip.licence, clip.fps, names, parents, pos[0], quat[0], pos, quat)
    for node, body in zip(writer.add_tree(tree), bodies, strict=True):
        surfaces = _surfaces(body_mesh(m, body), np.eye(4), 0)
        if surfaces:
            writer.add_mesh(node, surfaces)


def _surfaces(mesh: trimesh.Trimesh | None, to_world: np.ndarray, joint: int) -> list[Surface]:
    """A mesh by colours, its edges sharp, moved."""
    if mesh is None:
        return []
    painted = cast(ColorVisuals, mesh.visual).face_colors[:, :3]
    colors, member = np.unique(painted, axis=0, return_inverse=True)
    surfaces = []
    for number, color in enumerate(colors):
        part = mesh.submesh([np.flatnonzero(member.ravel() == number)], append=True)
        part = trimesh.graph.smooth_shade(part, angle=SHARP)
        part.apply_transform(to_world)
        linear = tuple(((color / 255.0) ** 2.2).round(4).tolist())
        surfaces.append(Surface(part.vertices, part.vertex_normals, part.faces, linear, joint))
    return surfaces
