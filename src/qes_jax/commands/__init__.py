"""The command lines: only here are arguments and the environment read, and JAX made ready before it is imported."""
