"""Train a policy: python experiments/run.py [--preset cpu] [--ablation no_contact] [--clips walk] [--resume latest]"""

from qes_jax.commands.train import main

if __name__ == "__main__":
    raise SystemExit(main())
