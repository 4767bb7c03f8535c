"""Run a sweep on this machine: python experiments/sweep.py SWEEP.yaml [--workers N] [--index I --of N] [-- MORE ...]

python experiments/sweep.py experiments/sweeps/ablations.yaml
python experiments/sweep.py experiments/sweeps/ablations.yaml --index 3 --of 18 -- --samples 1000000
python experiments/sweep.py --gather runs --plot curves.png
"""

import sys

import tyro

from qes_jax.assembly.sweeping.options import Options
from qes_jax.commands.launch import explained, prepare_jax
from qes_jax.commands.train import parse


@explained
def main(argv: list[str] | None = None) -> int:
    """Run or gather what the command line says. Exit code 1: a run failed, 2: bad input, 130: stopped."""
    words = sys.argv[1:] if argv is None else list(argv)
    at = words.index("--") if "--" in words else len(words)
    own, extra = words[:at], words[at + 1 :]
    options = tyro.cli(Options, args=own)
    if (options.file is None) == (options.gather is None):
        raise ValueError("expected a sweep's file or --gather FOLDER, one of them")
    prepare_jax()
    from qes_jax.assembly.sweeping.gather import gather  # only now: they import JAX
    from qes_jax.assembly.sweeping.run import run_sweep

    if options.gather:
        gather(options)
        return 0
    return run_sweep(options, extra, lambda line: parse(line).config)
