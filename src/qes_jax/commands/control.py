"""Balance, jump or walk by prioritised optimisation, no motion capture.

python experiments/control.py walk --duration 20 --style fast --html walk.html --json walk.json
python experiments/control.py balance --push 30 --body ostrich
python experiments/control.py jump --variant twist --seed 1
python experiments/control.py walk --live          # sliders in the browser, at http://127.0.0.1:8080
"""

import os

import tyro

from qes_jax.assembly.controlling.options import Options
from qes_jax.commands.launch import explained


@explained
def main(argv: list[str] | None = None) -> int:
    """Exit code 0 where it ran (see `fell` for how it ended), 2 at bad input."""
    options = tyro.cli(Options, args=argv, description=__doc__)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices are slower on many threads
    from qes_jax.assembly.controlling.run import run, run_live  # only now: they import NumPy

    return run_live(options) if options.live else run(options)
