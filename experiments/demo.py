"""What `make run` does: show the policy that ships, then train the walk before your eyes."""

import sys
import webbrowser
from pathlib import Path

import evaluate
import run

SHOWN = Path("runs") / "shipped-walk"


def main(argv: list[str]) -> int:
    """Evaluate and play the shipped weights, then train; argv goes to experiments/run.py."""
    print("1. The policy that ships (experiments/weights/walk), from 16 start frames, 20 s each:\n", flush=True)
    code = evaluate.main(["walk", "--starts", "16", "--seconds", "20", "--show", "1", "--out", str(SHOWN)])
    if code:
        return code
    page = next(SHOWN.glob("playback*.html")).resolve()
    print(f"\nWatch it: open {page}\n", flush=True)
    if sys.stdout.isatty():
        webbrowser.open(page.as_uri())
    print("2. The same, trained from nothing. Ctrl-C saves and ends; --resume latest goes on.", flush=True)
    print("   Other rooms: experiments/run.py --scene chair; own clips: --clips FILE.npz;", end=" ")
    print("all settings: --help\n", flush=True)
    return run.main(["--tracker", "none", *argv])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
