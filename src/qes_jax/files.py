"""Files that are written whole or not at all: under a temporary name beside the old one, then renamed."""

import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, tokenize.TokenError, EOFError, OSError),
    *(ValueError, KeyError, TypeError, SyntaxError, NotImplementedError, RuntimeError, MemoryError, OverflowError),
)  # what np.load and zipfile raise, depending on where the file is broken


@contextmanager
def replacing(path: Path, ending: str = ".tmp") -> Iterator[Path]:
    """The temporary name to write to, which becomes `path` at the end of the block and is removed at an error.

    Makes the folder. `ending` is for writers that tell the format by it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}{ending}")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def check_target(*paths: Path | None) -> None:
    """Make the files' folders and see that files can be written there, before long work. Raises OSError naming one."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise IsADirectoryError(f"{path}: is a folder, expected the name of a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(f"{path}: its folder cannot be written to")


def entry(file: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    """An array of an open npz. Raises KeyError, or ValueError where the entry is no array: NumPy gives bytes then."""
    found = file[name]
    if not isinstance(found, np.ndarray):
        raise ValueError(f"entry {name} is no array")
    return found


def save_npz(path: Path, **arrays: np.ndarray) -> None:
    """Write a compressed npz of arrays, no pickles."""
    with replacing(path) as aside, open(aside, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
