"""Be the user: python experiments/live.py rooms --scene living_room, then open the address it prints."""

from qes_jax.commands.live import main

if __name__ == "__main__":
    raise SystemExit(main())
