"""How npz and npy files are spoilt: arrays that hold what they must not, lie about their shape, or are bombs."""

import io
import json
import os
import zipfile

import numpy as np

from qes_jax.assembly.trusting.spoil_tree import change
from qes_jax.files import BROKEN

Rng = np.random.Generator
BOMB = 2**31  # bytes of zeros


class Opened:
    """A pickle that would make a folder where it is opened: whoever does has run a stranger's code."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("opened_a_pickle",)


def spoil_npy(data: bytes, rng: Rng) -> bytes | None:
    """One array is changed, or its header."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except BROKEN:
        return None
    if rng.random() < 0.3:
        return _lying(data, array, rng)
    return _npy(_changed(array, rng))


def spoil_npz(data: bytes, rng: Rng) -> bytes | None:
    """One member of the archive is changed, missing, doubled, exchanged with another, a pickle or a bomb."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = {name: file.read(name) for name in file.namelist()}
    except BROKEN:
        return None
    if not members:
        return None
    names = list(members)
    name, other = (names[int(i)] for i in rng.integers(len(names), size=2))
    way = rng.choice(["change", "lie", "drop", "rename", "swap", "pickle", "text", "bomb"], p=_CHANCES)
    if way == "change":
        members[name] = spoil_npy(members[name], rng) or members[name]
    elif way == "lie":
        members[name] = _lying(members[name], np.zeros(1), rng)
    elif way == "drop":
        del members[name]
    elif way == "rename":
        members[f"../{name}"] = members.pop(name)
    elif way == "swap":
        members[name], members[other] = members[other], members[name]
    elif way == "pickle":
        members[name] = _npy(np.array([Opened()], object))
    elif way == "text":
        members[name] = rng.bytes(int(rng.integers(200)))
    else:
        return _bomb(members, name)
    return _zipped(members)


_CHANCES = [0.5, 0.12, 0.08, 0.08, 0.1, 0.06, 0.055, 0.005]


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _changed(array: np.ndarray, rng: Rng) -> np.ndarray:
    """Another array in its place: a value, the shape or the type are wrong."""
    if array.dtype.kind == "U" and array.size == 1:
        return np.array(_text(str(array.reshape(-1)[0]), rng))
    way = int(rng.integers(9))
    if way <= 2 and array.size and array.dtype.kind == "f":
        array = array.copy()
        odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, -1.0, 0.0]
        array.reshape(-1)[int(rng.integers(array.size))] = odd[int(rng.integers(len(odd)))]
        return array
    if way == 3:
        return array[:0] if array.ndim else array.reshape(1)
    if way == 4:
        return array.reshape(-1)[: int(rng.integers(array.size + 1))]
    if way == 5:
        return array.T
    if way == 6:
        return np.repeat(array[None], 2, axis=0)
    if way == 7 and array.dtype.kind in "fiub":
        kinds = ("f2", "f8", "i8", "u1", "c8", "?", "S4", "U3", ">f4")
        with np.errstate(all="ignore"):
            return np.nan_to_num(array.astype("f8")).astype(kinds[int(rng.integers(len(kinds)))])
    return np.zeros_like(array)


def _text(text: str, rng: Rng) -> str:
    """A JSON text of an npz with a change in its tree, or cut."""
    try:
        return json.dumps(change(json.loads(text), rng))
    except (ValueError, RecursionError):
        return text[: int(rng.integers(len(text) + 1))]


def _lying(data: bytes, array: np.ndarray, rng: Rng) -> bytes:
    """The header claims another shape or type than what follows."""
    shapes = ((2**40,), (2**62, 4), (-1, 3), (0,), (10**6, 10**6), (3,) * 40, (1, 2**31))
    kinds = ("<f8", "<f4", "|O", "<U1000000000", "|V8", "<M8[s]", "|b1", "<f16")
    fields = {
        "descr": kinds[int(rng.integers(len(kinds)))] if rng.random() < 0.5 else "<f4",
        "fortran_order": bool(rng.random() < 0.3),
        "shape": shapes[int(rng.integers(len(shapes)))] if rng.random() < 0.7 else array.shape,
    }
    header = repr(fields).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data[128:]


def _bomb(members: dict[str, bytes], name: str) -> bytes:
    """A member that unpacks to gigabytes of zeros, and says so in its header."""
    head = io.BytesIO()
    fields = {"descr": "|u1", "fortran_order": False, "shape": (BOMB,)}
    np.lib.format.write_array_header_1_0(head, fields)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for other, content in members.items():
            if other != name:
                archive.writestr(other, content)
        with archive.open(name, "w") as member:
            member.write(head.getvalue())
            for _ in range(16):  # a few are enough: memory is asked for by the header
                member.write(bytes(2**20))
    return file.getvalue()
