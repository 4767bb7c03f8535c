"""brax's PPO and ours on the same task, at equal settings: python experiments/compare_brax.py [--samples 500000]

Both see the same environment (brax through its adaptor), networks, batch, minibatch, epochs, discount and clip, a fixed
learning rate, and no sampling of starts by failure. Judged by the same evaluation, without noise.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from qes_jax.commands.launch import explained, prepare_jax


@dataclass(frozen=True)
class Options:
    """Train both, evaluate both, print one JSON object."""

    samples: int = 500_000
    """For each learner."""
    clip: str = "walk"
    """The clip to track."""
    starts: int = 32
    """Even start frames of the evaluation, 20 s each."""
    json_file: Path | None = None
    """Write the result there too."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Compare. Exit code 2 at bad input."""
    options = tyro.cli(Options, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.assembly.bench.brax import compare  # only now: it imports JAX
    from qes_jax.runs.folder import write_json

    result = compare(options.samples, options.clip, options.starts)
    print(json.dumps(result, indent=2))
    if options.json_file:
        write_json(options.json_file, result)
    return 0
