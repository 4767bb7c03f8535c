"""Turn a headset recording into a track that a policy can be evaluated on, and say what was found in it."""

from qes_jax.commands.import_sensors import main

if __name__ == "__main__":
    raise SystemExit(main())
