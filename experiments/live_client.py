"""A headset's stand-in for a live room: python experiments/live_client.py FILE"""

from qes_jax.commands.live_client import main

if __name__ == "__main__":
    raise SystemExit(main())
