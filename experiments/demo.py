"""What `make run` does: show a policy that ships among furniture, then train the walk before your eyes."""

from qes_jax.commands.demo import main

if __name__ == "__main__":
    raise SystemExit(main())
