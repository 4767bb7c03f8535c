"""Look at scenes, and count what they cost: MUJOCO_GL=osmesa python experiments/scenes.py [NAMES or FILES] [--out PNG]

A person stands in each, or sits on what is alone in it. The picture in the docs: --out docs/scenes/scenes.png
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.commands.launch import explained, prepare_jax


@dataclass(frozen=True)
class Options:
    """Which scenes, and what of them."""

    scenes: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Built-in names, or files (.toml, MJCF's .xml); all built-in ones if none is named."""
    out: Path | None = None
    """Draw them side by side into this PNG."""
    compile: bool = False
    """Measure how long MJX takes to compile a control step in each, anew, without the cache."""
    json: Path | None = None
    """Where the figures go as well."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Print a line for each scene. Exit code 2 where a scene is unknown or its file is wrong."""
    options = tyro.cli(Options, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.assembly.sheets.scenes import save_sheet  # only now: they import JAX and OpenGL
    from qes_jax.model.scene import SCENES
    from qes_jax.model.scene_cost import cost
    from qes_jax.model.scene_file import find_scene
    from qes_jax.runs.folder import write_json

    scenes = [find_scene(word) for word in options.scenes or SCENES]
    found = {}
    for scene in scenes:
        found[scene.name] = {k: v for k, v in asdict(cost(scene, options.compile)).items() if v is not None}
        print(f"{scene.name:14} " + ", ".join(f"{k} {v}" for k, v in found[scene.name].items()), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.json, found)
    if options.out:
        save_sheet(options.out, scenes)
        print(f"drawn in {options.out}")
    return 0
