"""Marks of what is wrong with a pose: red shells on what sinks into something, balance on the floor."""

from collections.abc import Sequence

import numpy as np
import viser

from qes_jax.evaluate.meshes import body_mesh
from qes_jax.evaluate.view.nodes import add_glass
from qes_jax.model.world import World
from qes_jax.pose.editor.check import Verdict

RED, GREEN = (225, 45, 45), (40, 160, 90)
SWELL = 0.012  # [m] by how much a shell stands off its link
EDGES = 24  # of the support that are drawn
ABOVE = 0.004  # [m] above the floor


class Marks:
    """Shells around the body's links, the support's outline, and a disc below the centre of mass."""

    def __init__(self, server: viser.ViserServer, world: World, nodes: Sequence[viser.SceneNodeHandle]):
        """Add them, hidden, for the links whose nodes are given.

        They are not those nodes' children: a click on a hidden child is a click on its parent.
        """
        self._shells, self._nodes, m = [], nodes, world.plain
        for link, body in zip(world.layout.links, world.layout.link_ids + 1, strict=True):
            mesh = body_mesh(m, int(body), RED)
            assert mesh is not None
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
            mesh.vertices = mesh.vertices + SWELL * mesh.vertex_normals
            shell = add_glass(server, f"/sunk/{link}", mesh, RED, 0.75)
            shell.visible = False
            self._shells.append(shell)
        line = np.zeros((EDGES, 2, 3), np.float32)
        self._outline = server.scene.add_line_segments(
            "/balance/support", line, GREEN, thickness=3.0, thickness_units="screen"
        )
        self._disc = server.scene.add_icosphere("/balance/com", 0.03, GREEN, scale=(1.0, 1.0, 0.1), cast_shadow=False)

    def show(self, verdict: Verdict | None) -> None:
        """Mark what was found where the links now are; None hides all."""
        sunk = np.zeros(len(self._shells), bool) if verdict is None else verdict.sunk()
        for shell, node, on in zip(self._shells, self._nodes, sunk, strict=True):
            if on:
                shell.position, shell.wxyz = node.position, node.wxyz
            if shell.visible != bool(on):
                shell.visible = bool(on)
        self._disc.visible = verdict is not None
        self._outline.visible = verdict is not None and len(verdict.support) > 0
        if verdict is None:
            return
        color = GREEN if verdict.margin >= 0 else RED
        if tuple(self._disc.color) != color:
            self._disc.color = color
        self._disc.position = np.array([*verdict.com[:2], ABOVE])
        if len(verdict.support):
            self._outline.points = outline(verdict.support)


def outline(corners: np.ndarray) -> np.ndarray:
    """(EDGES, 2, 3) the closed line through corners (C, 2), of which no more than EDGES are drawn."""
    rows = np.unique(np.linspace(0, len(corners) - 1, EDGES).astype(int))
    ring = np.append(rows, [rows[0]] * (EDGES + 1 - len(rows)))
    points = np.column_stack([corners[ring], np.full(len(ring), ABOVE)]).astype(np.float32)
    return np.stack([points[:-1], points[1:]], axis=1)
