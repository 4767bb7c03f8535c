"""What every entry point does before JAX is imported."""

import contextlib
import io
import os
from pathlib import Path


def prepare_jax() -> None:
    """Keep compiled programs on disk between runs, unless the user has said where, and import MJX without its chatter."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qes_jax" / "jax"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that Warp is not installed, which most need not know
        import mujoco.mjx  # noqa: F401
