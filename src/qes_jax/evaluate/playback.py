"""Interactive 3-D playback of an episode in one HTML file, viser's client inside: it needs no network and no server."""

import contextlib
import io
from pathlib import Path

import mujoco
import numpy as np
import viser

from qes_jax.evaluate.episode import Episode, body_poses, parked
from qes_jax.evaluate.meshes import body_mesh
from qes_jax.files import replacing
from qes_jax.model.world import SENSORS

GHOST = (80, 170, 110)
AHEAD, UP = np.array([2.2, -2.6, 0.9]), 0.9  # [m] the camera's place seen from the body's, and the height it looks at

Moves = list[tuple[viser.SceneNodeHandle, np.ndarray, np.ndarray]]  # node, positions (T, 3), quaternions (T, 4)


def save_playback(path: Path, episode: Episode, every: int = 2) -> None:
    """Write every `every`-th frame: the simulated body, the reference as a green ghost, the user's devices as axes."""
    with contextlib.redirect_stdout(io.StringIO()):  # it tells the address of a server that nobody is to visit
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            html = _record(server, episode, every)
        finally:
            server.stop()
    with replacing(path) as aside:
        aside.write_text(html, encoding="utf-8")


def _record(server: viser.ViserServer, episode: Episode, every: int) -> str:
    world = episode.world()
    m, shown = world.plain, slice(None, None, every)
    placement = np.asarray(episode.placement)
    pos, quat = (x[shown] for x in body_poses(world, episode.qpos, placement))
    moves = _add_room(server, m, placement, world.layout.body_object, pos, quat)
    moves += _add_body(server, m, world.layout.link_ids, pos, quat, ghost=False)
    if episode.body_known:
        at, turn = (x[shown] for x in body_poses(world, episode.reference_qpos, placement))
        moves += _add_body(server, m, world.layout.link_ids, at, turn, ghost=True)
    moves += _add_devices(server, episode.user_pos[shown], episode.user_quat[shown])
    _look(server, np.concatenate([pos[:, world.layout.link_ids[0]], episode.user_pos[:, 0]]))
    recorder = server.get_scene_serializer()
    for t in range(len(pos)):
        for node, positions, quats in moves:
            node.position, node.wxyz = positions[t], quats[t]
        recorder.insert_sleep(every / episode.fps)
    return recorder.as_html()


def _add_room(
    server: viser.ViserServer, m: mujoco.MjModel, placement: np.ndarray, body_object: np.ndarray,
    pos: np.ndarray, quat: np.ndarray,
) -> Moves:  # fmt: skip
    """Floor and pieces; what is returned are the bodies that do not stand still."""
    server.scene.add_grid(
        "/floor", 20.0, 20.0, cell_size=0.5, section_size=1.0, plane_opacity=1.0,
        cell_color=(226, 229, 233), section_color=(196, 202, 210), plane_color=(240, 242, 245),
    )  # fmt: skip
    used = np.append([True], ~parked(placement))
    moves: Moves = []
    for body in np.flatnonzero((body_object > 0) & used[body_object]):
        mesh = body_mesh(m, int(body) + 1)
        if mesh is not None:
            name = f"/room/{m.body(body + 1).name}"
            node = server.scene.add_mesh_trimesh(name, mesh, position=pos[0, body], wxyz=quat[0, body])
            if np.ptp(pos[:, body], axis=0).max() > 1e-4 or np.ptp(quat[:, body], axis=0).max() > 1e-4:
                moves.append((node, pos[:, body], quat[:, body]))
    return moves


def _add_body(
    server: viser.ViserServer, m: mujoco.MjModel, link_ids: np.ndarray, pos: np.ndarray, quat: np.ndarray, ghost: bool
) -> Moves:
    moves: Moves = []
    for body in link_ids:
        mesh = body_mesh(m, int(body) + 1)
        if mesh is None:
            continue
        name = f"/{'reference' if ghost else 'simulated'}/{m.body(body + 1).name}"
        at = {"position": pos[0, body], "wxyz": quat[0, body]}
        if ghost:
            node = server.scene.add_mesh_simple(
                name, mesh.vertices, mesh.faces, color=GHOST, opacity=0.35, cast_shadow=False, **at
            )
        else:
            node = server.scene.add_mesh_trimesh(name, mesh, **at)
        moves.append((node, pos[:, body], quat[:, body]))
    return moves


def _add_devices(server: viser.ViserServer, pos: np.ndarray, quat: np.ndarray) -> Moves:
    """The user's headset and controllers as axes (X red, Y green, Z blue)."""
    return [
        (server.scene.add_frame(f"/user/{name}", axes_length=0.2, axes_radius=0.008), pos[:, i], quat[:, i])
        for i, name in enumerate(SENSORS)
    ]


def _look(server: viser.ViserServer, way: np.ndarray) -> None:
    """Set the camera so that all points (N, 3) that body and user pass are in sight."""
    low, high = way[:, :2].min(axis=0), way[:, :2].max(axis=0)
    middle, size = np.append((low + high) / 2, UP), float(np.linalg.norm(high - low))
    server.scene.set_up_direction("+z")
    server.initial_camera.position = tuple(middle + AHEAD * max(1.0, 0.35 * size))
    server.initial_camera.look_at = tuple(middle)
