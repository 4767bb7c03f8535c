"""Measure the controllers, write the page of results: python experiments/control_results.py [--quick] [--workers N]"""

from qes_jax.commands.control_results import main

if __name__ == "__main__":
    raise SystemExit(main())
