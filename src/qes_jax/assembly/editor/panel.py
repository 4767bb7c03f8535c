"""The controls beside the scene. Each says what was done to `act`, and shows what `show` is told."""

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Literal

import viser

from qes_jax.assembly.editor.fields import Numbers, typed
from qes_jax.pose.editor.beside import METHODS
from qes_jax.pose.skeleton import JOINTS
from qes_jax.pose.targets import KINDS

Act = Callable[..., None]  # of the name of an action and its values
NONE = "(none)"
LATELY = 8  # as many values of the fields x y z are remembered as may have been on the way when one was typed
WORDS = {"position": "position", "rotation": "rotation", "look_at": "look at"}
HELP = """Click a joint or a limb, then pull the arrows. **Orange** joints are pinned, **yellow** is chosen, the
**green** mark on the floor carries the whole pose. Ctrl+Z, Ctrl+Shift+Z: undo, redo. P: pin. R: release."""


class Panel:
    """Tabs for the pose, for named poses and for the motion."""

    def __init__(self, server: viser.ViserServer, act: Act, title: str):
        """Add the controls."""
        self._gui, self._act, gui = server.gui, act, server.gui
        self._shown: deque[Numbers] = deque([(0.0, 0.0, 0.0)], maxlen=LATELY)
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
        if control.value != value:
            control.value = value

    def set_place(self, values: Numbers) -> None:
        """Show values in the fields x y z."""
        if self._shown[-1] != values:
            self._shown.append(values)
        self.set(self.place, values)

    def _pose(self) -> None:
        gui = self._gui
        with gui.add_folder("joint"):
            self.joint = self._heard(gui.add_dropdown("joint", JOINTS, initial_value="left_wrist"), "select")
            kinds = gui.add_dropdown("target", tuple(WORDS.values()), initial_value="position")
            self.kind = self._heard(kinds, "target")
            self.place = gui.add_vector3("x y z [m]", (0.0, 0.0, 0.0), step=0.01)
            self.place.on_update(self._told("place", lambda: typed(self.place.value, tuple(self._shown))))
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
            self.spheres = self._heard(gui.add_checkbox("joints", True), "joints")
            self.checks = self._heard(
                gui.add_checkbox("what sinks, balance", True, hint="red: inside something; on the floor: the support"),
                "checks",
            )
            self.beside = self._heard(gui.add_dropdown("beside it", (NONE, *METHODS), initial_value=NONE), "beside")
        gui.add_markdown(HELP)

    def _library(self) -> None:
        gui = self._gui
        self.name = gui.add_text("name", "")
        save = gui.add_button("save this pose", icon=viser.Icon.DEVICE_FLOPPY)
        save.on_click(self._told("save pose", lambda: self.name.value))
        self.saved = gui.add_dropdown("saved poses", (NONE,), initial_value=NONE)
        for word, hint in (("load", "where it was saved"), ("load here", "where the body stands, as it faces")):
            gui.add_button(word, hint=hint).on_click(self._told(word, lambda: self.saved.value))
        self.folder = gui.add_markdown("")

    def _motion(self) -> None:
        gui = self._gui
        with gui.add_folder("key poses"):
            self.time = gui.add_number("time [s]", 0.0, min=0.0, max=120.0, step=0.1)
            add = gui.add_button("set key pose at this time", icon=viser.Icon.KEYFRAME)
            add.on_click(self._told("add key", lambda: self.time.value))
            self.key = gui.add_dropdown("key pose", (NONE,), initial_value=NONE)
            gui.add_button("go to it").on_click(self._told("go to key", lambda: self.key.value))
            move = gui.add_button("move to the time")
            move.on_click(self._told("move key", lambda: self.key.value, lambda: self.time.value))
            gui.add_button("delete it").on_click(self._told("delete key", lambda: self.key.value))
        with gui.add_folder("motion"):
            self.plant = self._heard(
                gui.add_checkbox("keep still hands and feet", True, hint="those that stay from key to key"), "plant"
            )
            self.play = gui.add_button("play", icon=viser.Icon.PLAYER_PLAY)
            self.play.on_click(self._told("play"))
            self.when = self._heard(gui.add_slider("moment [s]", 0.0, 120.0, 0.01, 0.0), "seek")
        with gui.add_folder("save"):
            self.clip = gui.add_text("name", "my_motion")
            save = gui.add_button("save clip, BVH and GLB", icon=viser.Icon.DEVICE_FLOPPY)
            save.on_click(self._told("save clip", lambda: self.clip.value))
        self.written = gui.add_markdown("")

    def _told(self, action: str, *values: Callable[[], Any]) -> Callable[[Any], Coroutine]:
        """What hears a control. It runs on viser's event loop, not its threads: actions keep their order."""

        async def heard(event: Any) -> None:
            if event.client_id is not None:  # not by `set`
                self._act(action, *(value() for value in values))

        return heard

    def _heard(self, control: Any, action: str) -> Any:
        control.on_update(self._told(action, lambda: control.value))
        return control

    def _buttons(self, group: Any) -> None:
        async def heard(_: Any) -> None:
            self._act(group.value)

        group.on_click(heard)

    def _keys_of_the_keyboard(self) -> None:
        keys: tuple[tuple[str, str, Literal["Z", "P", "R"], Literal["cmd/ctrl", "cmd/ctrl+shift"] | None], ...] = (
            ("Undo", "undo", "Z", "cmd/ctrl"), ("Redo", "redo", "Z", "cmd/ctrl+shift"),
            ("Pin the joint", "pin", "P", None), ("Release the joint", "release", "R", None),
        )  # fmt: skip
        for label, action, key, modifier in keys:
            command = self._gui.add_command(label, hotkey=key, modifier=modifier)
            command.on_trigger(self._told(action))


def kind_from(words: str) -> str:
    """The kind of target behind the panel's words."""
    return next(kind for kind in KINDS if WORDS[kind] == words)
