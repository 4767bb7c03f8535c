"""Turn a headset recording into a track that a policy can be evaluated on, and say what was found in it.

python experiments/import_sensors.py FILE --out track.npz [--height 1.75] [--start 0 --end 60] [--eye-height 1.65]
"""

import json

import tyro

from qes_jax.assembly.importing.options import SensorOptions
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Import one recording, print what was found. Exit code 2 at bad input."""
    options = tyro.cli(SensorOptions, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.assembly.importing.sensors import import_sensors  # only now: it imports JAX

    print(json.dumps(import_sensors(options), indent=2))
    return 0
