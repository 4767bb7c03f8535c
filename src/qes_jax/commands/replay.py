"""See a failed run's environment again: python experiments/replay.py runs/NAME/failure-NUMBER [--html out.html]"""

from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.assembly.viewing.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Exit code 2 where there is nothing to be seen."""

    def entry(failure: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FAILURE")]],
              html: Path | None = None, port: int = 8080) -> Options:  # fmt: skip
        """Run a failed iteration again from the checkpoint before it, and show the environment that failed.

        Args:
            failure: the folder that a failed run has dumped.
            html: write one HTML file instead of serving.
            port: where it is served, on 127.0.0.1; 0 for any port that is free.
        """
        return Options((str(failure),), html=html, port=port)

    options = tyro.cli(entry, args=argv)
    prepare_jax()
    from dataclasses import replace

    from qes_jax.assembly.replaying import replay  # only now: they import JAX
    from qes_jax.assembly.viewing.run import view

    view(replace(options, what=(str(replay(Path(options.what[0]))),)))
    return 0
