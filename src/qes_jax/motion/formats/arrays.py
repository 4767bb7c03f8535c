"""NumPy files of strangers: read without pickles, and whatever is wrong said in one line."""

import zipfile
from pathlib import Path

import numpy as np

from qes_jax.files import BROKEN, entry
from qes_jax.motion.formats.recording import RecordingError

LARGEST = 1e9  # of what can be a place or an angle in any unit


def fields_of(path: str | Path) -> set[str]:
    """Names of an npz's arrays, empty where the file is no npz."""
    try:
        with zipfile.ZipFile(path) as file:
            return {n.removesuffix(".npy") for n in file.namelist() if n.endswith(".npy")}
    except (*BROKEN, UnicodeDecodeError):
        return set()


def load_fields(path: Path, wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Those arrays of an npz that are wanted and there; others, which may be pickles, are not opened.

    Raises RecordingError.
    """
    if path.is_file() and not zipfile.is_zipfile(path):
        raise RecordingError(f"{path}: not an npz archive")
    arrays, field = {}, ""
    try:
        with np.load(path, allow_pickle=False) as file:
            for field in (f for f in wanted if f in file):
                arrays[field] = entry(file, field)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        why = "it holds Python objects, which are not opened" if "allow_pickle" in str(error) else error
        raise RecordingError(f"{path}: {f'field {field}' if field else 'not a readable npz'}: {why}") from None
    return arrays


def load_array(path: Path) -> np.ndarray:
    """The array of an npy. Raises RecordingError."""
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        why = "it holds Python objects, which are not opened" if "Object arrays" in str(error) else error
        why = "it is none" if "pickled data" in str(error) else why  # NumPy takes any other file for a pickle
        raise RecordingError(f"{path}: not a readable .npy array: {why}") from None
    if not isinstance(array, np.ndarray):
        raise RecordingError(f"{path}: not an npy array, but an archive of several")
    return array


def finite_rows(path: Path, field: str, array: np.ndarray, tail: tuple[int | None, ...]) -> np.ndarray:
    """float64 of an array of numbers whose shape is (frames, *tail), None for any length. Raises RecordingError."""
    fits = array.ndim == 1 + len(tail) and all(w in (None, n) for w, n in zip(tail, array.shape[1:], strict=True))
    if not fits or len(array) == 0 or array.dtype.kind not in "fiu":
        shape = ", ".join("any" if n is None else str(n) for n in tail)
        what = f"{array.dtype} of shape {array.shape}, expected numbers of shape (frames, {shape})"
        raise RecordingError(f"{path}: field {field} is {what}")
    array = array.astype(np.float64)
    for fine, wrong in ((np.isfinite(array), "is not finite"), (np.abs(array) < LARGEST, f"is over {LARGEST:g}")):
        bad = ~fine.reshape(len(array), -1).all(axis=1)
        if bad.any():
            raise RecordingError(f"{path}: field {field} {wrong} at frame {int(np.argmax(bad))}")
    return array


def find_rate(path: Path, arrays: dict[str, np.ndarray], fields: tuple[str, ...]) -> float | None:
    """The frame rate [Hz] in whichever of the fields is there, None for none. Raises RecordingError at an odd one."""
    for field in (f for f in fields if f in arrays):
        value = arrays[field]
        if value.size != 1 or value.dtype.kind not in "fiu" or not 1 <= float(value.reshape(())) <= 1000:
            raise RecordingError(f"{path}: field {field} is {value!r:.80}, expected a rate of 1 to 1000 Hz")
        return float(value.reshape(()))
    return None
