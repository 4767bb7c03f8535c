"""See a failed run's environment again: python experiments/replay.py runs/NAME/failure-NUMBER [--html out.html]"""

from qes_jax.commands.replay import main

if __name__ == "__main__":
    raise SystemExit(main())
