"""The built-in clips by name: what each shows, in which scene, and whether training may see it."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, Body, make_body
from qes_jax.authoring.controlled import CONTROLLED
from qes_jax.authoring.furniture import Visit, seat_of
from qes_jax.authoring.gestures import alive, look, point_at, reach, shift, squat, wave, write
from qes_jax.authoring.ground import steady
from qes_jax.authoring.ik import solve
from qes_jax.authoring.library import FAMILIES, LIBRARY
from qes_jax.authoring.recipe import Recipe
from qes_jax.authoring.steps import approach, levels_of
from qes_jax.authoring.story import Story
from qes_jax.authoring.targets import Targets, standing
from qes_jax.authoring.timeline import n_frames
from qes_jax.model.scene import Piece, Scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import FPS, Clip

LICENCE, SOURCE, HEIGHT = "Apache-2.0", "made by qes_jax.authoring", 1.75

LOOP = (
    (3.0, 0.0), (4.6, 1.2), (3.4, 2.6), (1.0, 2.4), (-1.0, 1.0), (-3.0, -0.6), (-5.0, 0.2), (-4.6, 2.2), (-2.4, 2.4),
    (-0.4, 1.0), (1.0, -1.0), (3.0, -1.8), (4.4, -0.4), (3.0, 0.9), (0.6, 0.2),
)  # fmt: skip


def names(held_out: bool | None = None) -> list[str]:
    """Names of all clips, or only of those that are (not) held out from training."""
    return [name for name, recipe in RECIPES.items() if held_out in (None, recipe.held_out)]


def build(name: str) -> Clip:
    """One built-in clip, the same whenever it is built. Raises KeyError that lists the valid names."""
    if name in CONTROLLED:
        return CONTROLLED[name](name)
    scene = get_recipe(name).scene
    return make_clip(name, build_qpos(name), scene, HEIGHT, SOURCE, LICENCE, FPS)


def build_qpos(name: str) -> np.ndarray:
    """The motion alone, qpos (T, nq)."""
    body, recipe = make_body(HEIGHT), get_recipe(name)
    rng = np.random.default_rng(recipe.seed)
    targets = alive(recipe.tell(body, rng), rng)
    return solve(body, steady(body, targets), recipe.scene.pieces if recipe.solid else None)


def get_recipe(name: str) -> Recipe:
    """A recipe by name, built-in or of the library. Raises KeyError that lists the valid ones."""
    if name in LIBRARY:
        family, variant = LIBRARY[name]
        return family.recipe(variant)
    if name not in RECIPES:
        known = ", ".join([*RECIPES, *(f"{family.name}_00 .. {family.variants - 1:02d}" for family in FAMILIES)])
        raise KeyError(f"unknown built-in clip {name!r}: expected one of {known}")
    return RECIPES[name]


CATEGORY = {
    "walk": "walk", "test_walk": "walk", "turn": "walk", "test_turn": "walk", "stand_gesture": "stand and gesture",
    "test_gesture": "stand and gesture", "squat": "squat", "test_squat": "squat",
}  # fmt: skip


def category(name: str) -> str:
    """What a clip shows, one of the library's categories. Raises KeyError at an unknown name."""
    if name in CONTROLLED:
        return "controlled"
    if name in LIBRARY:
        return LIBRARY[name][0].category
    scene = get_recipe(name).scene.name
    if scene == "flat":
        return CATEGORY.get(name, "walk")
    return "step on and over boxes" if scene == "boxes" else "sit and get up"


def by_category(names: list[str]) -> dict[str, list[str]]:
    """The names sorted into categories, in the library's order."""
    found: dict[str, list[str]] = {family.category: [] for family in FAMILIES} | {"controlled": []}
    for name in names:
        found[category(name)].append(name)
    return {key: members for key, members in found.items() if members}


def find_names(words: Sequence[str]) -> list[str]:
    """Clips by name, family, category, "builtin" or "library"; without a word these two. Raises KeyError."""
    everything, found = [*RECIPES, *LIBRARY, *CONTROLLED], []
    for word in words or ("builtin", "library"):
        kinds = {"builtin": list(RECIPES), "library": list(LIBRARY)}
        members = kinds.get(word) or [n for n, (f, _) in LIBRARY.items() if word == f.name and n not in words]
        members = [word] if word in everything else members
        members = members or [n for n in everything if category(n) == word]
        found += members or [get_recipe(word) and word]
    return list(dict.fromkeys(found))


def table(names: list[str]) -> list[str]:
    """Lines of a Markdown table: category, clips, minutes, and minutes that are held out; lengths without solving."""
    rows, body = [], make_body(HEIGHT)
    for key, members in by_category(names).items():
        minutes = {n: _seconds(body, n) / 60 for n in members}
        held = sum(minutes[n] for n in members if n not in CONTROLLED and get_recipe(n).held_out)
        rows.append((key, len(members), sum(minutes.values()), held))
    rows.append(("all", sum(r[1] for r in rows), sum(r[2] for r in rows), sum(r[3] for r in rows)))
    head = ["| category | clips | minutes | of them held out |", "|---|---|---|---|"]
    return [*head, *(f"| {key} | {count} | {total:.1f} | {held:.1f} |" for key, count, total, held in rows)]


def _seconds(body: Body, name: str) -> float:
    if name in CONTROLLED:
        return CONTROLLED[name].seconds
    recipe = get_recipe(name)
    return (recipe.tell(body, np.random.default_rng(recipe.seed)).n_frames - 1) / FPS


def _walk(body: Body, rng: np.random.Generator, points=LOOP, speed: float = 1.1) -> Targets:
    return Story(body).wait(0.5).walk(*points, speed=speed).wait(0.6).told()


def _turns(body: Body, rng: np.random.Generator, angles=(1.6, -3.1, 2.4), rate: float = 1.2) -> Targets:
    story = Story(body).wait(0.6)
    for angle in angles:
        story.turn(angle, rate).wait(0.7)
    return story.told()


def _gestures(body: Body, rng: np.random.Generator, mirrored: bool = False) -> Targets:
    one, other = (RIGHT, LEFT) if mirrored else (LEFT, RIGHT)
    story = Story(body)
    here = partial(standing, body, story.stand)
    story.add(look(here(n_frames(4.0)), [(1.0, (0.6, 0.1)), (2.2, (-0.5, 0.2))]))
    story.add(wave(here(n_frames(5.2)), other, 1.2))
    story.add(shift(body, story.stand, 4.0, one))
    story.add(write(here(n_frames(6.0)), other, 1.2, rng))
    story.add(point_at(here(n_frames(4.4)), one, 1.3, 0.5))
    both = reach(here(n_frames(5.5)), LEFT, [(1.3, (0.5, 0.12, 0.3)), (2.8, (0.42, 0.05, 0.1))])
    story.add(reach(both, RIGHT, [(1.5, (0.5, 0.12, 0.35)), (3.0, (0.42, 0.05, 0.1))]))
    return story.told()


def _squats(body: Body, rng: np.random.Generator, depths=(0.2, 0.3, 0.38), seconds: float = 1.6) -> Targets:
    story = Story(body).wait(0.6)
    for depth in depths:
        story.add(squat(body, story.stand, depth, seconds)).wait(0.6)
    return story.told()


def _seat(
    body: Body, rng: np.random.Generator, piece: Piece, via=(), speed=0.9, seated=8.0, side=RIGHT, away=(0.0, 0.8)
) -> Targets:
    """Walk up to a seat, sit down, do small things, stand up and walk away."""
    seat, visit = seat_of(piece), Visit(seated=seated)

    def busy(targets: Targets) -> Targets:
        targets = look(targets, [(visit.down + 1.6, (0.5, 0.1)), (visit.down + 2.8, (-0.4, 0.15))])
        reached = [(visit.down + 3.6, (0.5, 0.2, 0.4)), (visit.down + 4.6, (0.48, 0.05, 0.32))]
        return reach(targets, side, reached)

    spot = tuple(seat.point(seat.hips + 0.5))
    return (
        Story(body)
        .wait(0.5)
        .walk(*via, spot, speed=speed)
        .sit(seat, visit, busy)
        .walk(away, speed=speed)
        .wait(0.4)
        .told()
    )


def _boxes(
    body: Body, rng: np.random.Generator, pieces: tuple[Piece, ...], speed=0.9, first=RIGHT, pace=1.0
) -> Targets:
    """Walk up to boxes, step over them one after the other, walk on."""
    levels = levels_of(pieces, np.zeros(3))
    before = levels[0].near - approach(levels[0].height)
    story = Story(body).wait(0.4).walk((before, 0.0), speed=speed).climb(pieces, first, pace)
    return story.walk((levels[-1].far + 1.6, 0.3), speed=speed).wait(0.5).told()


def _seat_recipe(kind: str, pos=(2.2, 0.0, 0.0), yaw=np.pi, held_out=False, seed=0, **choices) -> Recipe:
    piece = Piece(kind, kind, pos=pos, yaw=yaw)
    return Recipe(partial(_seat, piece=piece, **choices), Scene(kind, (piece,)), held_out, seed)


def _box_recipe(
    *heights: float, x: float = 1.6, depth: float = 0.6, gap: float = 0.2, held_out=False, seed=0, **choices
) -> Recipe:
    pieces = tuple(
        Piece(f"box{k}", "box", (depth, 0.8, height), (x + k * (depth + gap), 0.0, 0.0))
        for k, height in enumerate(heights)
    )
    return Recipe(partial(_boxes, pieces=pieces, **choices), Scene("boxes", pieces), held_out, seed, solid=True)


RECIPES: dict[str, Recipe] = {
    "walk": Recipe(_walk),
    "walk_slow": Recipe(partial(_walk, points=((2.5, 0.3), (5.0, -0.5), (7.0, 0.4)), speed=0.65), seed=1),
    "walk_fast": Recipe(partial(_walk, points=((4.0, 0.0), (8.0, 1.0), (12.0, 0.0), (16.0, 0.5)), speed=1.4), seed=2),
    "walk_curves": Recipe(
        partial(_walk, points=((1.5, 0.8), (3.0, 0.0), (4.5, -0.9), (6.0, 0.0), (7.0, 1.5)), speed=0.9), seed=3
    ),
    "turn": Recipe(_turns, seed=4),
    "stand_gesture": Recipe(_gestures, seed=5),
    "squat": Recipe(_squats, seed=6),
    "stool": _seat_recipe("stool", seed=10),
    "stool_side": _seat_recipe(
        "stool", (1.8, 0.9, 0.0), -np.pi / 2, via=((0.9, -0.1),), side=LEFT, away=(3.2, -0.6), seed=11
    ),
    "chair": _seat_recipe("chair", seed=12),
    "chair_side": _seat_recipe(
        "chair", (1.8, -1.0, 0.0), np.pi / 2, via=((0.9, 0.1),), side=LEFT, away=(3.2, 0.6), seed=13
    ),
    "box_10": _box_recipe(0.10, seed=20),
    "box_18": _box_recipe(0.18, first=LEFT, seed=21),
    "box_30": _box_recipe(0.30, seed=22),
    "box_45": _box_recipe(0.45, seed=23),
    "boxes_18_45": _box_recipe(0.18, 0.45, seed=24),
    "test_walk": Recipe(
        partial(_walk, points=tuple((x, -0.8 * y) for x, y in LOOP), speed=1.2), held_out=True, seed=101
    ),
    "test_turn": Recipe(partial(_turns, angles=(-2.0, 2.7, -0.8), rate=1.4), held_out=True, seed=104),
    "test_gesture": Recipe(partial(_gestures, mirrored=True), held_out=True, seed=105),
    "test_squat": Recipe(partial(_squats, depths=(0.26, 0.34), seconds=1.3), held_out=True, seed=106),
    "test_stool": _seat_recipe(
        "stool", (1.9, 0.5, 0.0), 2.6, speed=1.0, seated=7.0, side=LEFT, held_out=True, seed=110
    ),
    "test_chair": _seat_recipe(
        "chair", (2.4, -0.4, 0.0), -2.8, speed=1.0, seated=9.0, away=(0.2, 1.0), held_out=True, seed=112
    ),
    "test_box_18": _box_recipe(0.18, x=1.9, speed=1.0, pace=1.15, held_out=True, seed=121),
    "test_box_45": _box_recipe(0.45, x=1.7, first=LEFT, pace=1.1, held_out=True, seed=123),
    "test_boxes": _box_recipe(0.12, 0.36, x=1.8, held_out=True, seed=124),
}
