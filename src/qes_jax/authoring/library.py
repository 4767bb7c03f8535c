"""The library: families of clips, each varied by a level and by chance, sorted into categories."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from qes_jax.authoring.families import boxes, chairs, floor, room, sit, stand, walk
from qes_jax.authoring.recipe import Recipe

HELD_OUT = (2, 7)  # of ten variants in a row these are never trained on


@dataclass(frozen=True)
class Family:
    """One kind of motion in `variants` variants.

    `make` takes what chance decides, and a level in [0, 1] that rises from first to last variant: speed, height.
    """

    category: str
    make: Callable[[np.random.Generator, float], Recipe]
    variants: int

    @property
    def name(self) -> str:
        """That of its function."""
        return self.make.__name__

    def recipe(self, variant: int) -> Recipe:
        """The same whenever it is asked for, whatever other families there are."""
        seed = (crc32(self.name.encode()), variant)
        level = variant / max(self.variants - 1, 1)
        made = self.make(np.random.default_rng((*seed, 1)), level)
        return replace(made, seed=seed, held_out=variant % 10 in HELD_OUT, solid=True)


FAMILIES: tuple[Family, ...] = (
    Family("walk", walk.walk_line, 10),
    Family("walk", walk.walk_bends, 6),
    Family("walk", walk.walk_pace, 4),
    Family("walk", walk.walk_stop, 6),
    Family("walk", walk.walk_wander, 4),
    Family("walk", walk.walk_turns, 4),
    Family("walk", walk.walk_back, 5),
    Family("walk", walk.walk_side, 5),
    Family("stand and gesture", stand.stand_idle, 5),
    Family("stand and gesture", stand.stand_gesture, 8),
    Family("write in the air", stand.stand_write, 8),
    Family("squat", stand.stand_squat, 5),
    Family("reach", stand.stand_reach, 6),
    Family("sit and get up", sit.sit_stool, 5),
    Family("sit and get up", sit.sit_stool_high, 4),
    Family("sit and get up", sit.sit_chair, 6),
    Family("sit and get up", sit.sit_couch, 6),
    Family("step on and over boxes", boxes.box_step, 9),
    Family("step on and over boxes", boxes.box_stairs, 6),
    Family("step on and over boxes", boxes.box_over, 5),
    Family("get up from the floor", floor.floor_kneel, 4),
    Family("get up from the floor", floor.floor_fours, 4),
    Family("get up from the floor", floor.floor_sit, 4),
    Family("get up from the floor", floor.floor_lie, 4),
    Family("office chair", chairs.turn_office, 5),
    Family("tilting chair", chairs.lean_tilting, 5),
    Family("living room", room.room_live, 5),
)


def clip_name(family: Family, variant: int) -> str:
    """For example walk_line_03, and test_walk_line_02 where it is held out."""
    return f"{'test_' if variant % 10 in HELD_OUT else ''}{family.name}_{variant:02d}"


LIBRARY: dict[str, tuple[Family, int]] = {
    clip_name(family, variant): (family, variant) for family in FAMILIES for variant in range(family.variants)
}


def library_names(held_out: bool | None = None) -> list[str]:
    """Names of all clips of the library, or only of those that are (not) held out from training."""
    return [n for n, (_, variant) in LIBRARY.items() if held_out in (None, variant % 10 in HELD_OUT)]
