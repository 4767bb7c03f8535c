"""What `make run` does: show a policy that ships among furniture, then train the walk before your eyes."""

import sys
import webbrowser
from pathlib import Path

from qes_jax.commands import evaluate, train

SHOWN = Path("runs") / "shipped-rooms"
CLIPS = ("test_chair", "test_sit_stool_02")  # held out from training


def main(argv: list[str] | None = None) -> int:
    """Evaluate and play the shipped weights, then train; argv goes to experiments/run.py."""
    print("1. A policy that ships (experiments/weights/rooms), on clips it never saw, 16 starts of 30 s:\n", flush=True)
    asked = ["rooms", "--clips", *CLIPS, "--starts", "16", "--show", "1", "--out", str(SHOWN)]
    code = evaluate.main(asked)
    if code:
        return code
    page = next(SHOWN.glob("playback*.html")).resolve()
    print(f"\nWatch it: open {page}\n", flush=True)
    if sys.stdout.isatty():
        webbrowser.open(page.as_uri())
    print("2. A walk, trained from nothing. Ctrl-C saves and ends; --resume latest goes on.", flush=True)
    print("   As above: experiments/run.py --preset rooms; own clips: --clips FILE.npz;", end=" ")
    print("all settings: --help\n", flush=True)
    return train.main(["--tracker", "none", *(sys.argv[1:] if argv is None else argv)])
