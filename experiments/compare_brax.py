"""brax's PPO and ours on the same task, at equal settings: python experiments/compare_brax.py [--samples 500000]"""

from qes_jax.commands.compare_brax import main

if __name__ == "__main__":
    raise SystemExit(main())
