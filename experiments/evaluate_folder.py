"""Evaluate a policy on a folder of recordings: python experiments/evaluate_folder.py RUN FOLDER [--groups REGEX]"""

from qes_jax.commands.evaluate_folder import main

if __name__ == "__main__":
    raise SystemExit(main())
