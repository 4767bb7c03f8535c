"""Look at scenes and count what they cost: python experiments/scenes.py [NAMES or FILES] [--out PNG]"""

from qes_jax.commands.scenes import main

if __name__ == "__main__":
    raise SystemExit(main())
