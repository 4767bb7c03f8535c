"""Build clips and judge them: python experiments/make_clips.py [WORDS ...] [--out DIR] [--workers N]"""

from qes_jax.commands.make_clips import main

if __name__ == "__main__":
    raise SystemExit(main())
