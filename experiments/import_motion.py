"""Make a clip of a foreign recording: read it, fit the character to it, label its contacts, report how good it is."""

from qes_jax.commands.import_motion import main

if __name__ == "__main__":
    raise SystemExit(main())
