"""The scene of one motion, or of two side by side: all nodes, and what to do at a moment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import viser

from qes_jax.evaluate.episode import parked
from qes_jax.evaluate.view import nodes
from qes_jax.evaluate.view.palette import GHOST, SECOND, contact_color, label_color
from qes_jax.evaluate.view.show import Show
from qes_jax.model.world import SENSORS

AHEAD, UP = np.array([2.1, -2.5, 0.75]), 0.8  # [m] the camera's place seen from the body's, and the height it looks at
FOV = 0.75  # [rad] of the camera, vertically
OVER = 1.0  # [m] of the error above the root
PARTS = ("reference", "contacts", "contact labels", "headset and controllers", "height map", "error")


@dataclass(frozen=True)
class Arrangement:
    """How motions are laid out."""

    beside: float = 0.0  # [m] the reference's distance to the left of the body, along Y
    apart: float = 2.0  # [m] between two motions, along Y
    follow: bool = False  # the room moves under the first body, which stays in sight


class Stage:
    """The nodes of one or two shows. `at` sets a moment; `arrange` and `part` may be called at any time."""

    def __init__(self, server: viser.ViserServer, shows: Sequence[Show], arrangement: Arrangement | None = None):
        """Add everything to the server's scene, at the first frame."""
        self.server, self.shows = server, shows
        self.duration = max(s.duration for s in shows)  # [s]
        self.fps = max(s.fps for s in shows)  # [Hz]
        self.time = 0.0  # [s]
        self._root = server.scene.add_frame("/stage", show_axes=False)
        self._floor()
        self._sets = [server.scene.add_frame(f"/stage/{'ab'[i]}", show_axes=False) for i in range(len(shows))]
        self._parts: dict[str, list[viser.SceneNodeHandle]] = {p: [] for p in PARTS}
        self._beside: list[viser.SceneNodeHandle] = []
        self._updates = [self._add(i, show) for i, show in enumerate(shows)]
        self._way = _smooth(shows[0].root()[:, :2], shows[0].fps)
        self.arrange(arrangement or Arrangement())
        self.at(self.time)
        self._look()

    def at(self, time: float) -> None:
        """Show the moment `time` [s]; a shorter motion stays at its last frame."""
        self.time = time
        for show, updates in zip(self.shows, self._updates, strict=True):
            frame = _frame(show, time)
            for update in updates:
                update(frame)
        self._follow()

    def arrange(self, arrangement: Arrangement) -> None:
        """Lay the motions out anew."""
        self.arrangement = arrangement
        for i, node in enumerate(self._sets):
            node.position = (0.0, -i * arrangement.apart, 0.0)
        for node in self._beside:
            node.position = (0.0, arrangement.beside, 0.0)
        self._follow()

    def has(self, part: str) -> bool:
        """Whether any motion has this one of PARTS."""
        return bool(self._parts[part])

    def part(self, part: str, visible: bool) -> None:
        """Show or hide one of PARTS."""
        for node in self._parts[part]:
            node.visible = visible

    def _group(self, number: int, part: str) -> str:
        path = f"/stage/{'ab'[number]}/{part}"
        self._parts[part].append(self.server.scene.add_frame(path, show_axes=False))
        return path

    def _add(self, number: int, show: Show) -> list[nodes.Update]:
        server, world, home = self.server, show.world, f"/stage/{'ab'[number]}"
        used = ~parked(show.placement)
        updates = nodes.add_room(server, f"{home}/room", world, show.body, used)
        updates += nodes.add_body(server, f"{home}/simulated", world, show.body, SECOND if number else None)
        if show.ghost:
            updates += nodes.add_body(server, self._group(number, "reference"), world, show.ghost, GHOST, 0.35)
        if show.touch is not None:
            path = self._group(number, "contacts")
            updates += nodes.add_contacts(server, path, world, show.body, show.touch, contact_color)
        if show.label.any():
            path, poses = self._group(number, "contact labels"), show.ghost or show.body
            updates += nodes.add_contacts(server, path, world, poses, show.label, label_color, 0.55)
        path = self._group(number, "headset and controllers")
        for i, name in enumerate(SENSORS):
            node = server.scene.add_frame(f"{path}/{name}", axes_length=0.16, axes_radius=0.007)
            updates.append(nodes.moving(node, show.user_pos[:, i], show.user_quat[:, i]))
        if show.height_map:
            path = self._group(number, "height map")
            updates += nodes.add_heights(server, f"{path}/points", show.height_map)
        if show.ghost:
            self._beside += [self._parts[p][-1] for p in ("reference", "contact labels") if self._parts[p]]
        return updates + self._add_error(number, show)

    def _add_error(self, number: int, show: Show) -> list[nodes.Update]:
        """The error as a label above the head, new about six times a second."""
        if show.error is None:
            return []
        every, mean = max(1, round(show.fps / 6)), 100 * show.error.mean(axis=1)
        path = f"{self._group(number, 'error')}/text"
        label = self.server.scene.add_label(path, "", anchor="bottom-center")
        above = show.root() + np.array([0.0, 0.0, OVER])

        def write(t: int) -> None:
            text = f"{mean[t // every * every]:.1f} cm"
            if label.text != text:
                label.text = text

        return [write, nodes.moving(label, above, np.tile([1.0, 0, 0, 0], (len(above), 1)))]

    def _floor(self) -> None:
        self.server.scene.add_grid(
            "/stage/floor", 40.0, 40.0, cell_size=0.5, section_size=1.0, plane_opacity=1.0, fade_distance=25.0,
            cell_color=(214, 218, 224), section_color=(186, 193, 203), plane_color=(231, 234, 239),
        )  # fmt: skip

    def _follow(self) -> None:
        x, y = self._way[_frame(self.shows[0], self.time)] - self._way[0]
        self._root.position = (-x, -y, 0.0) if self.arrangement.follow else (0.0, 0.0, 0.0)

    def _look(self) -> None:
        """Set the camera so that all that the bodies pass is in sight, or the start alone where it follows."""
        ways = [s.root()[:, :2] - [0.0, i * self.arrangement.apart] for i, s in enumerate(self.shows)]
        way = np.concatenate([w[:1] if self.arrangement.follow else w for w in ways])
        low, high = way.min(axis=0), way.max(axis=0)
        middle, size = np.append((low + high) / 2, UP), float(np.linalg.norm(high - low))
        self.server.scene.set_up_direction("+z")
        self.server.initial_camera.position = tuple(middle + AHEAD * max(1.0, 0.3 * size + 0.6))
        self.server.initial_camera.look_at = tuple(middle)
        self.server.initial_camera.fov = FOV


def _frame(show: Show, time: float) -> int:
    return min(max(round(time * show.fps), 0), show.n_frames - 1)


def _smooth(way: np.ndarray, fps: float) -> np.ndarray:
    """Running mean of way (T, 2) over a second, so that what follows it does not sway with each step."""
    width = min(2 * round(fps / 2) + 1, 2 * (len(way) // 2) - 1) if len(way) > 2 else 1
    padded = np.pad(way, ((width // 2, width // 2), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, np.full(width, 1 / width), "valid") for column in padded.T], axis=1)
