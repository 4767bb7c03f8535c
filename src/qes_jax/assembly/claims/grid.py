"""What a table needs: settings, families of motions, seeds, and the run of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qes_jax.assembly.settings import Ablation, RunConfig, presets
from qes_jax.authoring.library import HELD_OUT, LIBRARY

SETTINGS: dict[int, tuple[Ablation, ...]] = {  # table -> what it compares, the full setting first
    2: ("full",),
    3: ("full", "no_contact", "no_scene_obs", "no_randomization"),
    4: ("full", "real_time", "headset_only"),
}
CLIMBING = "climbing"


@dataclass(frozen=True)
class Family:
    """Motions told of together: words for clips to train on, and names of those to be evaluated on."""

    train: tuple[str, ...]
    test: tuple[str, ...]


def _family(library: Sequence[str], train: Sequence[str] = (), test: Sequence[str] = ()) -> Family:
    """Families of the library with their own held-out variants, and built-in clips."""
    held = [n for n, (family, variant) in LIBRARY.items() if family.name in library and variant % 10 in HELD_OUT]
    return Family((*train, *library), (*test, *held))


FAMILIES: dict[str, Family] = {
    "flat": _family(
        ("walk_line", "walk_bends", "walk_turns"),
        ("walk", "stand_gesture", "squat"),
        ("test_walk", "test_gesture", "test_squat"),
    ),
    "stool": _family(("sit_stool", "sit_stool_high"), ("stool", "stool_side"), ("test_stool",)),
    "chair": _family(("sit_chair",), ("chair", "chair_side"), ("test_chair",)),
    "couch": _family(("sit_couch",)),
    "boxes": _family(
        ("box_step", "box_stairs"),
        ("box_10", "box_18", "box_30", "box_45", "boxes_18_45"),
        ("test_box_18", "test_box_45", "test_boxes"),
    ),
    "over_boxes": _family(("box_over",)),
    "floor": _family(("floor_kneel", "floor_fours", "floor_sit", "floor_lie")),
    "office_chair": _family(("turn_office",)),
    "tilting_chair": _family(("lean_tilting",)),
    "living_room": _family(("room_live",)),
}
COMMON = ("flat", "stool", "chair", "couch", "boxes")  # of all three tables, which so share their runs
TINY = {"stool": Family(("stool",), ("test_stool",))}


@dataclass(frozen=True)
class Run:
    """One training, and its folder."""

    config: RunConfig
    folder: Path

    @property
    def setting(self) -> str:
        """The ablation's name."""
        return self.config.ablation


def choose(names: Sequence[str], climbs: Sequence[str] = (), climbs_held_out: Sequence[str] = ()) -> dict[str, Family]:
    """The families named, and that of recorded climbs where there are some. Raises ValueError that lists the names."""
    unknown = [n for n in names if n not in FAMILIES]
    if unknown:
        raise ValueError(f"unknown family {unknown[0]!r}: expected some of {', '.join(FAMILIES)}")
    found = {name: FAMILIES[name] for name in dict.fromkeys(names)}
    if climbs_held_out and not climbs:
        raise ValueError("--test-clips without --clips: nothing like them is trained on")
    climbing = {CLIMBING: Family(tuple(climbs), tuple(climbs_held_out or climbs))} if climbs else {}
    if not found | climbing:
        raise ValueError(f"no family of motions: expected some of {', '.join(FAMILIES)}, or --clips")
    return found | climbing


def base_config(preset: str, families: Mapping[str, Family], samples: int | None) -> RunConfig:
    """What all runs of a table share."""
    start = presets()[preset]
    words = tuple(word for family in families.values() for word in family.train)
    return replace(start, clips=words, scene=(), samples=samples or start.samples)


def tiny(config: RunConfig) -> RunConfig:
    """The same with networks of a few units, and two points of its learning curve."""
    return replace(config, evaluate_every=4, ppo=replace(config.ppo, actor_hidden=(32,), critic_hidden=(32,)))


def runs(table: int, base: RunConfig, seeds: int, root: Path) -> list[Run]:
    """Every run of a table, seed by seed, so that what is done first can be compared first."""
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}: expected at least 1")
    configs = [replace(base, ablation=a, seed=s) for s in range(seeds) for a in SETTINGS[table]]
    return [Run(c, root / f"{c.ablation}_seed{c.seed}_{c.samples / 1e6:g}M") for c in configs]
