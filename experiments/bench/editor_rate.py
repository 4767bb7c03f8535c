"""How fast the pose editor follows a hand: python experiments/bench/editor_rate.py ADDRESS [--hz 60] [--seconds 5]"""

from qes_jax.commands.bench.editor_rate import main

if __name__ == "__main__":
    raise SystemExit(main())
