"""What a file that is no recording of a body most likely is, and what to do with it instead."""

import zipfile
from pathlib import Path

from qes_jax.files import BROKEN

ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!")
START = 4096  # bytes that are looked at


def hint(path: Path) -> str:
    """One advice, or "" where nothing is known."""
    with path.open("rb") as file:
        start = file.read(START)
    if not start:
        return "the file is empty"
    if path.suffix.lower() == ".asf":
        return "an .asf holds a skeleton without motion: give the .amc, and --skeleton where its .asf lies elsewhere"
    if _fields(path) >= {"qpos", "qvel", "meta"}:
        return "this is a clip of ours already: train on it with run.py --clips, or write it out with export_motion.py"
    if start.startswith(ARCHIVES) and path.suffix.lower() != ".npz":
        return "this is an archive: unpack it first"
    if b'"camera"' in start or b"head_pos_x" in start:
        return "this looks like a recording of headset and controllers: import_sensors.py reads those"
    return ""


def _fields(path: Path) -> set[str]:
    """Names of an npz's arrays."""
    try:
        with zipfile.ZipFile(path) as file:
            return {Path(name).stem for name in file.namelist()}
    except (*BROKEN, UnicodeDecodeError):
        return set()
