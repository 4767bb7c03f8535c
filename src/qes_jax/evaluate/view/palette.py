"""The viewer's colours, and the legend that explains them."""

from collections.abc import Sequence
from html import escape

import numpy as np

from qes_jax.evaluate.view.show import Show

RGB = tuple[int, int, int]
GHOST: RGB = (80, 170, 110)
SECOND: RGB = (226, 148, 84)  # the second body; the first has the model's own colours
FIRST: RGB = (146, 160, 196)  # what those look like, for the legend and the curves
MAP_LOW, MAP_HIGH = np.array([70, 120, 190]), np.array([235, 130, 50])  # the height map's points at 0 and at TALL
TALL = 0.5  # [m]
CONTACT: tuple[RGB, ...] = ((240, 90, 40), (200, 30, 130), (20, 150, 160), (210, 170, 0), (120, 70, 200), (40, 140, 40))
PALE = 0.5  # share of white in a label's colour


def contact_color(obj: int) -> RGB:
    """Of a simulated contact with an object, floor first."""
    return CONTACT[obj % len(CONTACT)]


def label_color(obj: int) -> RGB:
    """Of a contact that the reference has: the same hue, paler."""
    r, g, b = (round((1 - PALE) * c + PALE * 255) for c in contact_color(obj))
    return r, g, b


def height_colors(points: np.ndarray) -> np.ndarray:
    """(P, 3) uint8 by the height of points (P, 3)."""
    share = np.clip(points[:, 2:] / TALL, 0.0, 1.0)
    return ((1 - share) * MAP_LOW + share * MAP_HIGH).astype(np.uint8)


def body_color(number: int) -> RGB:
    """Of the `number`th body, in legend and curves."""
    return (FIRST, SECOND)[number]


def css(color: Sequence[int] | np.ndarray) -> str:
    """A colour as HTML has it."""
    return "rgb({}, {}, {})".format(*(int(c) for c in color))


def legend(shows: Sequence[Show]) -> str:
    """HTML: the bodies, the contacts by object, the rest. Titles and names are escaped."""
    lines = [_line([body_color(i)], show.title) for i, show in enumerate(shows)]
    if any(s.ghost for s in shows):
        lines.append(_line([GHOST], "reference (translucent)"))
    simulated = any(s.touch is not None for s in shows)
    for obj, name in enumerate(objects(shows)):
        colors = [contact_color(obj), label_color(obj)] if simulated else [label_color(obj)]
        lines.append(_line(colors, f"touches {name}: {'simulated, ' if simulated else ''}labelled"))
    if any(s.height_map for s in shows):
        lines.append(_line([MAP_LOW, MAP_HIGH], f"height map: floor, {TALL:g} m and above"))
    lines.append(_line([(220, 40, 40), (40, 170, 40), (40, 80, 220)], "headset, controllers: X, Y, Z"))
    return "<div style='font: 12px/1.55 system-ui, sans-serif'>" + "".join(lines) + "</div>"


def objects(shows: Sequence[Show]) -> list[str]:
    """Names of the objects that any body touches or should touch, by their number; the first show names them."""
    longest = max((s.world.layout.objects for s in shows), key=len)
    used = np.zeros(len(longest), bool)
    for show in shows:
        for contacts in (show.label, show.touch):
            if contacts is not None:
                used[: contacts.shape[2]] |= contacts.any(axis=(0, 1))
    last = int(np.flatnonzero(used)[-1]) + 1 if used.any() else 0
    return [name.replace("_", " ") for name in longest[:last]]


def _line(colors: Sequence[RGB | np.ndarray], text: str) -> str:
    style = "display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:3px;vertical-align:-1px"
    swatches = "".join(f"<span style='{style};background:{css(c)}'></span>" for c in colors)
    return f"<div>{swatches} {escape(text)}</div>"
