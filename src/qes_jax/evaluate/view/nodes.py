"""Nodes of viser's scene that move: each kind as a function of the frame, which tells the clients what has changed."""

from collections.abc import Callable
from typing import cast

import numpy as np
import trimesh
import viser
from trimesh.visual import ColorVisuals

from qes_jax.evaluate.meshes import body_mesh
from qes_jax.evaluate.view.palette import height_colors
from qes_jax.evaluate.view.show import HeightMap, Poses
from qes_jax.model.world import World

Update = Callable[[int], None]  # of a frame
STEP = 2.0**-13  # [m], and of quaternions: poses are rounded to it, which halves a file
SWELL = 0.006  # [m] by how much a contact's shell stands off the link


def moving(node: viser.SceneNodeHandle, pos: np.ndarray, quat: np.ndarray) -> Update:
    """Moves a node along pos (T, 3) and quat (T, 4)."""
    pos, quat = (STEP * np.round(x / STEP) for x in (pos, quat))

    def update(t: int) -> None:
        if not np.array_equal(node.position, pos[t]):
            node.position = pos[t]
        if not np.array_equal(node.wxyz, quat[t]):
            node.wxyz = quat[t]

    return update


def blinking(node: viser.SceneNodeHandle, on: np.ndarray) -> Update:
    """Shows a node at the frames where on (T,) is true."""

    def update(t: int) -> None:
        node.visible = bool(on[t])

    return update


def add_body(
    server: viser.ViserServer, path: str, world: World, poses: Poses, color: tuple[int, int, int] | None = None,
    opacity: float | None = None,
) -> list[Update]:  # fmt: skip
    """The character's links below `path`, in the model's colours or in one, translucent on request."""
    m, updates = world.plain, []
    for link in world.layout.link_ids:
        mesh = body_mesh(m, int(link) + 1, color)
        if mesh is not None:
            name = f"{path}/{m.body(link + 1).name}"
            node = add_mesh(server, name, mesh) if opacity is None else add_glass(server, name, mesh, color, opacity)
            updates.append(moving(node, poses.pos[:, link], poses.quat[:, link]))
    return updates


def add_room(
    server: viser.ViserServer, path: str, world: World, poses: Poses, used: np.ndarray
) -> list[Update]:  # fmt: skip
    """The bodies of the pieces that are used, used (O-1,); updates are only of those that do not stand still."""
    m, owner, updates = world.plain, world.layout.body_object, []
    for body in np.flatnonzero((owner > 0) & np.append([True], used)[owner]):
        mesh = body_mesh(m, int(body) + 1)
        if mesh is not None:
            pos, quat = poses.pos[:, body], poses.quat[:, body]
            name = m.body(body + 1).name.replace("/", " ")  # a node below another would move with it
            node = add_mesh(server, f"{path}/{name}", mesh)
            node.position, node.wxyz = pos[0], quat[0]
            if np.ptp(pos, axis=0).max() > 1e-4 or np.ptp(quat, axis=0).max() > 1e-4:
                updates.append(moving(node, pos, quat))
    return updates


def add_contacts(
    server: viser.ViserServer, path: str, world: World, poses: Poses, touching: np.ndarray,
    color: Callable[[int], tuple[int, int, int]], opacity: float | None = None,
) -> list[Update]:  # fmt: skip
    """A shell around each link while it touches an object, touching (T, L, O), in `color` of the object."""
    m, updates = world.plain, []
    for link, obj in np.argwhere(touching.any(axis=0)):
        body = int(world.layout.link_ids[link])
        mesh = body_mesh(m, body + 1)
        if mesh is not None:
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
            swell = SWELL * (1.5 if opacity else 1.0) * (1 + 0.2 * obj)
            mesh.vertices = mesh.vertices + swell * mesh.vertex_normals
            name = f"{path}/{world.layout.links[link]} on {world.layout.objects[obj]}"
            node = add_glass(server, name, mesh, color(int(obj)), opacity)
            updates += [
                moving(node, poses.pos[:, body], poses.quat[:, body]), blinking(node, touching[:, link, obj])
            ]  # fmt: skip
    return updates


def add_heights(server: viser.ViserServer, path: str, seen: HeightMap) -> list[Update]:
    """The height map as points, sent anew only where a height has changed."""
    lifted = seen.points + np.array([0.0, 0.0, 0.012], np.float32)
    cloud = server.scene.add_point_cloud(
        path, lifted[0], height_colors(seen.points[0]), point_size=0.022, point_shape="circle"
    )
    shown = [0]

    def update(t: int) -> None:
        if np.abs(lifted[t] - lifted[shown[0]]).max() > 1e-3:
            cloud.points, cloud.colors = lifted[t], height_colors(seen.points[t])
            shown[0] = t

    return [update, moving(cloud, seen.pos, seen.quat)]


def add_mesh(server: viser.ViserServer, name: str, mesh: trimesh.Trimesh) -> viser.GlbHandle:
    """A mesh in its own vertex colours, as they are on a screen."""
    colors = cast(ColorVisuals, mesh.visual).vertex_colors
    linear = 255 * (colors[:, :3] / 255) ** 2.0  # glTF's vertex colours are linear, MuJoCo's are as on a screen
    mesh.visual = ColorVisuals(mesh, vertex_colors=np.column_stack([linear, colors[:, 3]]).astype(np.uint8))
    assert mesh.vertex_normals is not None  # once asked for, they are written with it; else each facet shows
    return server.scene.add_mesh_trimesh(name, mesh)


def add_glass(
    server: viser.ViserServer, name: str, mesh: trimesh.Trimesh, color: tuple[int, int, int] | None,
    opacity: float | None,
) -> viser.MeshHandle:  # fmt: skip
    """A mesh in one colour, translucent."""
    return server.scene.add_mesh_simple(
        name, mesh.vertices, mesh.faces, color=color or (200, 200, 200), opacity=opacity, cast_shadow=False
    )
