"""All commands in one: python -m qes_jax COMMAND ..."""

import sys
from importlib import import_module

COMMANDS = {  # name: module of qes_jax.commands, what it does
    "train": ("train", "train a policy on clips"),
    "sweep": ("sweep", "run a sweep on this machine, or gather what runs came to"),
    "evaluate": ("evaluate", "measure a policy on clips and recordings: tables, plots, playback"),
    "evaluate-folder": ("evaluate_folder", "the same on every recording of a folder, by group"),
    "tables": ("tables", "train and measure what a table of the paper takes, over several seeds"),
    "view": ("view", "look at clips and policies in the browser, or as a page or a picture"),
    "replay": ("replay", "see again the environment that made a run fail"),
    "live": ("live", "be the user: a body follows your headset, or your mouse, in the browser"),
    "live-client": ("live_client", "send a recording to a live room, as a headset would"),
    "import": ("import_motion", "make a clip of a foreign recording"),
    "import-sensors": ("import_sensors", "make a track of a headset's recording"),
    "export": ("export_motion", "write a clip as BVH or GLB"),
    "edit": ("edit_pose", "author poses and motions in the browser"),
    "pose": ("pose", "data, training and comparison of pose edition"),
    "control": ("control", "balance, jump or walk by prioritised optimisation"),
    "clips": ("make_clips", "build the library's clips"),
    "scenes": ("scenes", "look at scenes, and count what they cost"),
    "render": ("render", "render a saved episode offscreen"),
}


def main(argv: list[str] | None = None) -> int:
    """Run the command that the first word names. Exit code 2 where there is none of that name."""
    name, *words = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        print(f"error: unknown command {name!r}\n\n{usage()}", file=sys.stderr)
        return 2
    sys.argv = [f"qes_jax {name}", *words]  # what a command's --help calls itself
    return import_module(f"qes_jax.commands.{COMMANDS[name][0]}").main(words)


def usage() -> str:
    """The commands, a line each."""
    lines = [f"  {name:16}{what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["usage: python -m qes_jax COMMAND ...    (COMMAND --help tells its options)", "", *lines])


if __name__ == "__main__":
    raise SystemExit(main())
