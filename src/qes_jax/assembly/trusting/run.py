"""A campaign from its options to its page."""

import json
from pathlib import Path

from qes_jax.assembly.trusting.campaign import again, run_readers
from qes_jax.assembly.trusting.judge import FINE
from qes_jax.assembly.trusting.options import Options
from qes_jax.assembly.trusting.page import page
from qes_jax.files import check_target, replacing
from qes_jax.runs.folder import write_json


def run(options: Options) -> int:
    """Returns the exit code: 0 where nothing was found, 1 where something was."""
    if options.again is not None:
        verdict = again(options.again)
        print(f"{verdict.kind}: {verdict.what}".rstrip(": "))
        return int(verdict.kind not in FINE)
    check_target(options.json, options.page)
    counted = _before(options.json)
    if options.only in (None, "readers"):
        counted["readers"] = run_readers(options.minutes, options.seed, options.workers, options.readers, options.out)
    if options.json:
        write_json(options.json, counted)
    text = page(counted)
    if options.page:
        with replacing(options.page) as aside:
            aside.write_text(text)
    print(text)
    return int(any(part.get("findings") for part in counted.values()))


def _before(path: Path | None) -> dict:
    """What an earlier campaign counted, whose parts stay where this one does not run them."""
    return json.loads(path.read_text()) if path and path.is_file() else {}
