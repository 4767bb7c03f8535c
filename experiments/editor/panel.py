"""The controls beside the scene. Each says what was done to `act`, and shows what `show` is told."""

from collections.abc import Callable
from typing import Any

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from qes_jax.pose.editor.beside import METHODS
from qes_jax.pose.skeleton import JOINTS
from qes_jax.pose.targets import KINDS

Act = Callable[..., None]  # of the name of an action and its values
NONE = "(none)"
WORDS = {"position": "position", "rotation": "rotation", "look_at": "look at"}
HELP = """Click a joint or a limb, then pull the arrows. **Orange** joints are pinned, **yellow** is chosen, the
**green** mark on the floor carries the whole pose. Ctrl+Z, Ctrl+Shift+Z: undo, redo. P: pin. R: release."""


class Panel:
    """Tabs for the pose, for named poses and for the motion."""

    def __init__(self, server: viser.ViserServer, act: Act, title: str):
        """Add the controls."""
        self._gui, self._act, gui = server.gui, act, server.gui
        self._quiet = False
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
        gui.main_panel.dock_right()
        gui.set_panel_label(title)
        self.status = gui.add_markdown("")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Pose"):
            self._pose()
        with tabs.add_tab("Library"):
            self._library()
        with tabs.add_tab("Motion"):
            self._motion()
        self._keys_of_the_keyboard()

    def set(self, control: Any, value: Any) -> None:
        """Show a value without taking it for the user's."""
        same = np.array_equal(control.value, value) if isinstance(value, tuple) else control.value == value
        if not same:
            control.value = value

    def _pose(self) -> None:
        gui = self._gui
        with gui.add_folder("joint"):
            self.joint = self._heard(gui.add_dropdown("joint", JOINTS, initial_value="left_wrist"), "select")
            self.kind = self._heard(gui.add_dropdown("target", tuple(WORDS.values()), initial_value="position"), "kind")
            self.place = gui.add_vector3("x y z [m]", (0.0, 0.0, 0.0), step=0.01)
            self.place.on_update(lambda e: e.client_id is not None and self._act("place", self.place.value))
            self.weight = self._heard(gui.add_slider("weight", 0.01, 1.0, 0.01, 1.0), "weight")
            tolerance = gui.add_slider("tolerance [cm, °]", 0.0, 20.0, 0.5, 0.0, hint="within which it asks nothing")
            self.tolerance = self._heard(tolerance, "tolerance")
            self._buttons(gui.add_button_group("hold it", ("pin", "release")))
            self.hold = self._heard(gui.add_checkbox("pin what I drag", False), "hold")
        with gui.add_folder("edit"):
            self._buttons(gui.add_button_group("steps", ("undo", "redo", "reset")))
            self.symmetric = self._heard(
                gui.add_checkbox("symmetric", False, hint="the other side does the same"), "symmetric"
            )
            self._buttons(gui.add_button_group("sides", ("mirror", "left→right", "right→left")))
            self._buttons(gui.add_button_group("height", ("to the floor",)))
        with gui.add_folder("show"):
            self.ghost = self._heard(gui.add_checkbox("start pose", True), "ghost")
            self.spheres = self._heard(gui.add_checkbox("joints", True), "spheres")
            self.checks = self._heard(
                gui.add_checkbox("what sinks, balance", True, hint="red: inside something; on the floor: the support"),
                "checks",
            )
            self.beside = self._heard(gui.add_dropdown("beside it", (NONE, *METHODS), initial_value=NONE), "beside")
        gui.add_markdown(HELP)

    def _library(self) -> None:
        gui = self._gui
        self.name = gui.add_text("name", "")
        gui.add_button("save this pose", icon=viser.Icon.DEVICE_FLOPPY).on_click(
            lambda _: self._act("save_pose", self.name.value)
        )
        self.saved = gui.add_dropdown("saved poses", (NONE,), initial_value=NONE)
        for word, here, hint in (
            ("load", False, "where it was saved"), ("load here", True, "where the body stands, as it faces"),
        ):  # fmt: skip
            gui.add_button(word, hint=hint).on_click(
                lambda _, here=here: self._act("load_pose", self.saved.value, here)
            )
        self.folder = gui.add_markdown("")

    def _motion(self) -> None:
        gui = self._gui
        with gui.add_folder("key poses"):
            self.time = gui.add_number("time [s]", 0.0, min=0.0, max=120.0, step=0.1)
            gui.add_button("set key pose at this time", icon=viser.Icon.KEYFRAME).on_click(
                lambda _: self._act("add_key", self.time.value)
            )
            self.key = gui.add_dropdown("key pose", (NONE,), initial_value=NONE)
            for word, action in (("go to it", "go_key"), ("move to the time", "move_key"), ("delete it", "drop_key")):
                gui.add_button(word).on_click(
                    lambda _, action=action: self._act(action, self.key.value, self.time.value)
                )
        with gui.add_folder("motion"):
            self.plant = self._heard(
                gui.add_checkbox("keep still hands and feet", True, hint="those that stay from key to key"), "plant"
            )
            self.play = gui.add_button("play", icon=viser.Icon.PLAYER_PLAY)
            self.play.on_click(lambda _: self._act("play"))
            self.when = gui.add_slider("moment [s]", 0.0, 120.0, 0.01, 0.0)
            self.when.on_update(lambda e: e.client_id is not None and self._act("seek", self.when.value))
        with gui.add_folder("save"):
            self.clip = gui.add_text("name", "my_motion")
            gui.add_button("save clip, BVH and GLB", icon=viser.Icon.DEVICE_FLOPPY).on_click(
                lambda _: self._act("save_clip", self.clip.value)
            )
        self.written = gui.add_markdown("")

    def _heard(self, control: Any, action: str) -> Any:
        control.on_update(lambda e: e.client_id is not None and self._act(action, control.value))
        return control

    def _buttons(self, group: Any) -> None:
        group.on_click(lambda _: self._act(group.value))

    def _keys_of_the_keyboard(self) -> None:
        for label, action, key, modifier in (
            ("Undo", "undo", "Z", "cmd/ctrl"), ("Redo", "redo", "Z", "cmd/ctrl+shift"),
            ("Pin the joint", "pin", "P", None), ("Release the joint", "release", "R", None),
        ):  # fmt: skip
            command = self._gui.add_command(label, hotkey=key, modifier=modifier)
            command.on_trigger(lambda _, action=action: self._act(action))


def kind_from(words: str) -> str:
    """The kind of target behind the panel's words."""
    return next(kind for kind in KINDS if WORDS[kind] == words)


def as_numbers(kind: str, place: np.ndarray, quat: np.ndarray) -> tuple[float, float, float]:
    """What stands in the three fields: metres, or for a rotation degrees about X, Y, Z (fixed axes)."""
    values = Rotation.from_quat(quat, scalar_first=True).as_euler("xyz", degrees=True) if kind == "rotation" else place
    x, y, z = (round(float(v), 1 if kind == "rotation" else 3) + 0.0 for v in values)
    return x, y, z


def from_numbers(kind: str, values: tuple[float, ...], place: np.ndarray, quat: np.ndarray) -> tuple:
    """The inverse: position and quaternion."""
    if kind == "rotation":
        return place, Rotation.from_euler("xyz", values, degrees=True).as_quat(scalar_first=True)
    return np.array(values), quat
