"""The scene of the editor: body, ghost, joints to click, gizmo, other methods' skeletons, the room."""

from collections.abc import Callable

import mujoco
import numpy as np
import viser

from qes_jax.assembly.editor.marks import Marks
from qes_jax.evaluate.meshes import body_mesh
from qes_jax.evaluate.view.nodes import add_glass, add_mesh, add_room
from qes_jax.evaluate.view.show import Poses
from qes_jax.model.character import HEIGHT
from qes_jax.model.world import World
from qes_jax.pose.editor.beside import Beside
from qes_jax.pose.editor.state import NQ
from qes_jax.pose.skeleton import BONES, JOINTS, SKELETON

FREE, PINNED, CHOSEN, WHOLE = (40, 110, 225), (240, 100, 30), (255, 205, 40), (40, 160, 90)
GHOST, STICK = (110, 130, 150), (205, 120, 40)
THICK = {"pelvis": 0.075, "spine1": 0.07, "spine2": 0.075, "neck": 0.062, "head": 0.04}
RADIUS, AROUND = 0.056, 0.008  # [m] of other joints' spheres; how much larger the chosen one is
AHEAD, UP = np.array([2.3, 1.5, 0.6]), 0.85  # [m] the camera's place seen from the body's, and where it looks


class Figure:
    """The character's links, moved by qpos."""

    def __init__(self, server: viser.ViserServer, path: str, world: World, ghost: bool = False):
        """Add the links below `path`, as a ghost translucent."""
        m, self.nodes, self._data = world.plain, [], mujoco.MjData(world.plain)
        self._model, self._bodies = m, world.layout.link_ids + 1
        self._data.qpos[:] = world.layout.home_qpos
        self.root = server.scene.add_frame(path, show_axes=False)
        for body in self._bodies:
            mesh, name = body_mesh(m, int(body), GHOST if ghost else None), f"{path}/{m.body(int(body)).name}"
            assert mesh is not None
            self.nodes.append(add_glass(server, name, mesh, GHOST, 0.22) if ghost else add_mesh(server, name, mesh))

    def show(self, qpos: np.ndarray) -> None:
        """Take the pose qpos (39,)."""
        self._data.qpos[:NQ] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        for node, body in zip(self.nodes, self._bodies, strict=True):
            node.position, node.wxyz = self._data.xpos[body].copy(), self._data.xquat[body].copy()


class Stage:
    """All nodes. `say` is called with a joint's name when it is clicked, `grip` during a drag."""

    def __init__(
        self, server: viser.ViserServer, world: World, say: Callable[[str], None],
        grip: Callable[[str, np.ndarray, np.ndarray], None],
    ):  # fmt: skip
        """Add everything."""
        self.server, self.world, self._say, self._grip = server, world, say, grip
        self._room()
        self.body = Figure(server, "/body", world)
        self.ghost = Figure(server, "/ghost", world, ghost=True)
        self.marks = Marks(server, world, self.body.nodes)
        self.spheres = {name: self._sphere(name) for name in JOINTS}
        for joint in SKELETON[1:]:
            self._link(joint.link).on_click(lambda _, link=joint.link: say(first_joint(link)))
        self._name = server.scene.add_label("/name", "", anchor="bottom-center")
        self._gizmo: viser.TransformControlsHandle | None = None
        self._stick: list[viser.SceneNodeHandle] = []

    def look_at(self, place: np.ndarray) -> None:
        """Where the camera begins: before the body at `place` (3,)."""
        middle = np.array([place[0], place[1], UP])
        self.server.scene.set_up_direction("+z")
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.fov = tuple(middle + AHEAD), tuple(middle), 0.75

    def show_joints(self, on: bool) -> None:
        """Whether the joints' spheres are seen."""
        for sphere in self.spheres.values():
            sphere.visible = on

    def colour(self, chosen: str, pinned: set[str], root: np.ndarray) -> None:
        """Colour the joints' spheres; the root's mark lies on the floor at `root` (3,)."""
        for name, sphere in self.spheres.items():
            free = WHOLE if name == "root" else FREE
            color = CHOSEN if name == chosen else PINNED if name in pinned else free
            if tuple(sphere.color) != color:
                sphere.color = color
                if name != "root":
                    sphere.scale = 1.0 + AROUND / RADIUS if name == chosen else 1.0
        self.spheres["root"].position = root

    def label(self, text: str, place: np.ndarray) -> None:
        """Write beside a place (3,)."""
        if self._name.text != text:
            self._name.text = text
        self._name.position = place + np.array([0.0, 0.0, 0.09])

    def hold(self, joint: str, kind: str, place: np.ndarray, quat: np.ndarray) -> None:
        """A fresh gizmo for what is asked of a joint, at a place (3,) with a quaternion (4,)."""
        if self._gizmo is not None:
            self._gizmo.remove()
        turns, whole = kind == "rotation", joint == "root"
        self._gizmo = gizmo = self.server.scene.add_transform_controls(
            "/gizmo", scale=0.24 if turns else 0.3, line_width=3.0, disable_rotations=not (turns or whole),
            disable_axes=turns, disable_sliders=turns, depth_test=False, position=place,
            wxyz=quat if turns or whole else (1.0, 0.0, 0.0, 0.0),
        )  # fmt: skip

        async def update(event: viser.TransformControlsEvent) -> None:  # on the event loop: phases keep their order
            self._grip(event.phase, np.array(gizmo.position), np.array(gizmo.wxyz))

        gizmo.on_update(update)

    def follow(self, place: np.ndarray, quat: np.ndarray | None) -> None:
        """Bring the gizmo to where its joint has come."""
        if self._gizmo is not None:
            self._gizmo.position = place
            if quat is not None:
                self._gizmo.wxyz = quat

    def beside(self, result: Beside | None, text: str, aside: np.ndarray) -> None:
        """Another method's skeleton, moved `aside` (3,), or none."""
        if result is None:
            for node in self._stick:
                node.remove()
            self._stick = []
            return
        points = result.points + aside
        bones = np.stack([[points[a], points[b]] for a, b in BONES])
        if not self._stick:
            scene = self.server.scene
            self._stick = [
                scene.add_line_segments("/beside/bones", bones, STICK, thickness=0.014),
                scene.add_point_cloud("/beside/joints", points[1:], STICK, point_size=0.02, point_shape="circle"),
                scene.add_label("/beside/name", text, anchor="bottom-center"),
            ]
        lines, dots, name = self._stick
        lines.points, dots.points, name.text = bones.astype(np.float32), points[1:].astype(np.float32), text
        name.position = points[JOINTS.index("head")] + [0.0, 0.0, 0.2]

    def _link(self, link: str):
        return self.body.nodes[self.world.layout.links.index(link)]

    def _sphere(self, name: str) -> viser.IcosphereHandle:
        joint = SKELETON[JOINTS.index(name)]
        if name == "root":
            path, place, radius = "/root", (0.0, 0.0, 0.0), 0.06
        else:
            path = f"/body/{joint.link}/{name}"
            place = tuple(np.array(joint.offset) * self.world.character.height / HEIGHT)
            radius = THICK.get(name, RADIUS)
        flat = (3.5, 3.5, 0.25) if name == "root" else 1.0
        sphere = self.server.scene.add_icosphere(
            path, radius, FREE, subdivisions=3, position=place, scale=flat, cast_shadow=False
        )
        sphere.on_click(lambda _: self._say(name))
        return sphere

    def _room(self) -> None:
        data, m, world = mujoco.MjData(self.world.plain), self.world.plain, self.world
        data.qpos[:] = world.layout.home_qpos
        mujoco.mj_kinematics(m, data)
        poses = Poses(data.xpos[None, 1:].copy(), data.xquat[None, 1:].copy())
        add_room(self.server, "/room", world, poses, np.ones(len(world.pieces), bool))
        self.server.scene.add_grid(
            "/floor", 40.0, 40.0, cell_size=0.5, section_size=1.0, plane_opacity=1.0, fade_distance=25.0,
            cell_color=(214, 218, 224), section_color=(186, 193, 203), plane_color=(231, 234, 239),
        )  # fmt: skip


def first_joint(link: str) -> str:
    """The joint that is meant by a click on a link: the first that it carries, but the head rather than the neck."""
    if link == "head":
        return "head"
    return next(j.name for j in SKELETON[1:] if j.link == link)
