"""Pictures of a controlled body: a figure, a playback in one HTML file, the page with sliders."""

import contextlib
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import viser
from matplotlib.figure import Figure

from qes_jax.control.body import Body
from qes_jax.control.gait import RANGES, WalkParameters
from qes_jax.control.simulate import Push, Record
from qes_jax.evaluate.meshes import body_mesh
from qes_jax.evaluate.view import guard
from qes_jax.files import replacing

SLIDERS = {  # parameter: step
    "swing_duration": 0.01, "step_length": 0.01, "step_height": 0.005, "swing_delay": 0.01, "hip_shift": 0.005,
    "trunk_offset": 0.01, "head_heading": 0.02, "heading": 0.02, "height": 0.005,
}  # fmt: skip


def figure(record: Record) -> Figure:
    """Centre of mass, angular momentum, and the error of each priority over time."""
    t, com, momentum = np.array(record.time), np.array(record.com), np.array(record.momentum)
    out = Figure(figsize=(9, 7.5), layout="constrained")
    place, turn, error = out.subplots(3, 1, sharex=True)
    for i, axis in enumerate("xyz"):
        place.plot(t, com[:, i] - (com[0, i] if i < 2 else 0.0), label=axis)
        turn.plot(t, momentum[:, i], label=f"L{axis}")
    for level in dict.fromkeys(n for names in record.names for n in names):
        error.semilogy(t, np.maximum(record.error(level), 1e-12), label=level)
    place.set_ylabel("centre of mass [m]")
    turn.set_ylabel("angular momentum [kg m²/s]")
    error.set_ylabel("|A x - b| of each priority")
    error.set_xlabel("time [s]")
    for ax in (place, turn, error):
        ax.legend(loc="upper left", fontsize=8, ncols=5)
        ax.grid(alpha=0.3)
    return out


def save_playback(path: Path, body: Body, qpos: np.ndarray, fps: float) -> None:
    """Write qpos (T, nq) as an HTML file that needs no server."""
    with contextlib.redirect_stdout(io.StringIO()):
        server = guard.start(0)
        try:
            nodes, data = add_body(server, body), mujoco.MjData(body.m)
            middle = qpos[:, :2].mean(axis=0)
            span = float(np.ptp(qpos[:, :2], axis=0).max())
            server.initial_camera.position = (middle[0], middle[1] - 3.0 - 0.6 * span, 1.5)
            server.initial_camera.look_at = (middle[0], middle[1], 0.8)
            recorder = server.get_scene_serializer()
            for row in qpos:
                move(nodes, body, data, row)
                recorder.insert_sleep(1 / fps)
            html = recorder.as_html()
        finally:
            server.stop()
    with replacing(path) as aside:
        aside.write_text(html, encoding="utf-8")


def add_body(server: viser.ViserServer, body: Body) -> dict[int, viser.SceneNodeHandle]:
    """Floor and links; nodes by body id."""
    server.scene.set_up_direction("+z")
    server.scene.add_grid("/floor", 40.0, 40.0, cell_size=0.5, section_size=1.0, plane_opacity=1.0)
    nodes = {}
    for i in range(1, body.m.nbody):
        mesh = body_mesh(body.m, i)
        if mesh is not None:
            nodes[i] = server.scene.add_mesh_trimesh(f"/body/{body.m.body(i).name}", mesh)
    return nodes


def move(nodes: Mapping[int, viser.SceneNodeHandle], body: Body, data: mujoco.MjData, qpos: np.ndarray) -> None:
    """Put the links where qpos has them."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(body.m, data)
    for i, node in nodes.items():
        node.position, node.wxyz = data.xpos[i], data.xquat[i]


def named(styles: Mapping[str, WalkParameters], wanted: WalkParameters) -> str:
    """The name of the style that has these parameters."""
    return next(name for name, p in styles.items() if p == wanted)


class Scene:
    """The page: body, sliders for every parameter, styles, a button that pushes."""

    def __init__(self, body: Body, port: int, styles: Mapping[str, WalkParameters], start: WalkParameters) -> None:
        self.body, self._data = body, mujoco.MjData(body.m)
        self.server = guard.start(port)
        self._nodes = add_body(self.server, body)
        self._base, self._push = start, 0.0
        gui = self.server.gui
        choice = gui.add_dropdown("style", tuple(styles), initial_value=named(styles, start))
        self._sliders = {
            name: gui.add_slider(name, RANGES[name].low, RANGES[name].high, step, initial_value=getattr(start, name))
            for name, step in SLIDERS.items()
        }
        size, button = gui.add_slider("push [N s]", 0.0, 60.0, 1.0, initial_value=15.0), gui.add_button("push left")

        @choice.on_update
        def _(_) -> None:
            self._base = styles[choice.value]
            for name, slider in self._sliders.items():
                slider.value = getattr(self._base, name)

        @button.on_click
        def _(_) -> None:
            self._push = size.value

    def parameters(self) -> WalkParameters:
        """As the sliders stand."""
        return replace(self._base, **{name: slider.value for name, slider in self._sliders.items()})

    def pushes(self, time: float) -> list[Push]:
        """The push that was asked for since the last call."""
        size, self._push = self._push, 0.0
        return [Push((0.0, size), time)] if size else []

    def show(self, qpos: np.ndarray) -> None:
        """Draw the body, the camera following."""
        move(self._nodes, self.body, self._data, qpos)
        for client in self.server.get_clients().values():
            client.camera.look_at = (qpos[0], qpos[1], 0.8)
