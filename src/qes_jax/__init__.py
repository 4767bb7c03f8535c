"""Environment-aware motion tracking from a headset and controllers, in JAX and MuJoCo.

Importing this package is quick and changes nothing: no JAX, no MuJoCo, no configuration. Import the room you need:
`qes_jax.model`, `motion`, `env`, `ppo`, `runs`, `authoring`, `evaluate`.
"""

__version__ = "0.1.0"
