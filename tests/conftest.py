"""Shared by all tests: JAX on the CPU with a compilation cache that outlives the run, and the motion recordings."""

import os
from pathlib import Path

import pytest

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qes_jax" / "jax-tests"

# Before the first import of JAX, and through the environment so that subprocesses inherit it.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder of real recordings: $QES_DATA, else ../shared/data beside the checkout. Skips where there is none."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("QES_DATA") or default)
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder} (set QES_DATA)")
    return folder
