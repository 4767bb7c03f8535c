"""What every entry point does before JAX is imported."""

import _thread
import contextlib
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import wraps

from qes_jax.paths import cache_dir

LONGEST = 1200  # letters of an error


def prepare_jax() -> None:
    """Keep compiled programs on disk, unless the user has said where, and import MJX without its chatter."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_dir() / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")
    # XLA:CPU takes its own tuning hints (prefer-no-gather) in a cached program for features that
    # the host lacks, and says so at length.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that Warp is not installed, which most need not know
        import mujoco.mjx  # noqa: F401


def on_one_thread() -> None:
    """For solvers of many small factorisations: on the CPU and one thread, for more only wait for each other."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


def explained(main: Callable[..., int]) -> Callable[..., int]:
    """A command whose user's mistakes end it with one line and exit code 2, not with a traceback; 130 after Ctrl-C."""

    @wraps(main)
    def run(*args, **kwargs) -> int:
        warnings.formatwarning = _warned
        sys.unraisablehook = _unraised
        try:
            return main(*args, **kwargs)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130  # as shells say it
        except (OSError, ValueError, KeyError) as error:
            if os.environ.get("QES_TRACEBACK"):
                raise
            print(f"error: {_short(str(_words(error)))}\n(QES_TRACEBACK=1 shows where it was raised)", file=sys.stderr)
            return 2

    return run


def _short(text: str) -> str:
    """An error that quotes a file at length, without its middle."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def _unraised(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise a Ctrl-C again that a callback has swallowed: one of JAX's runs at every garbage collection."""
    if unraisable.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, _thread.interrupt_main).start()  # later, for here it would be swallowed again
    else:
        sys.__unraisablehook__(unraisable)


def _warned(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """One line of a warning that is our own; of others', where it was raised too."""
    where = "" if category.__module__.startswith("qes_jax") else f"{filename}:{lineno}: {category.__name__}: "
    return f"warning: {where}{message}\n"


def _words(error: Exception) -> object:
    """What is wrong; of what the system refuses, the file that was meant, never the temporary one beside it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename2 or error.filename}: {error.strerror}"
    return error.args[0] if isinstance(error, KeyError) and error.args else error
