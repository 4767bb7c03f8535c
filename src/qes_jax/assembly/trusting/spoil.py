"""How files are spoilt: bytes anywhere, numbers and words in texts, values in JSON, arrays in npz and npy.

Every way takes a file's bytes and a random generator and gives other bytes. What does not apply returns None.
"""

import json
import re
import struct
from collections.abc import Callable

import numpy as np

from qes_jax.assembly.trusting.spoil_arrays import spoil_npy, spoil_npz
from qes_jax.assembly.trusting.spoil_tree import change

Rng = np.random.Generator
Way = Callable[[bytes, Rng], bytes | None]
LARGEST = 3_000_000  # bytes: what is large takes long with right, and is no finding
NUMBERS = (
    *("nan", "inf", "-inf", "1e999", "1e308", "-1e308", "1e30", "1e9", "-1", "0", "-0.0", "1e-320", "0x10", "1_0"),
    *("9" * 30, "9" * 5000, "-", "", "true", "null", "two", "1,5", "\u0663", "1e", "2147483648", "-2147483649"),
)
NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][\w.]*")
DEEP = (b"[", b'{"a":', b"{\n", b"<body>", b"(", b'<default class="a">', b"ROOT a\n{\n", b"JOINT a\n{\nOFFSET 0 0 0\n")


def spoil(data: bytes, rng: Rng) -> tuple[bytes, list[str]]:
    """Spoilt bytes, and the names of the one to three ways it was done."""
    names: list[str] = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        fitting = _fitting(data)
        for _ in range(4):
            way = fitting[int(rng.integers(len(fitting)))]
            changed = way(data, rng)
            if changed is not None and changed != data and len(changed) < LARGEST:
                data = changed
                names.append(way.__name__)
                break
    return data, names


def _fitting(data: bytes) -> list[Way]:
    """The ways that suit what the bytes are; those of the content come as often as those of bare bytes."""
    if data[:2] == b"PK":
        return [*BYTES, *[spoil_npz] * 16]
    if data[:6] == b"\x93NUMPY":
        return [*BYTES, *[spoil_npy] * 8]
    if data[:4] == b"glTF":
        return [*BYTES, *[in_glb] * 12]
    if b"\0" in data[:400]:
        return BYTES
    if data.lstrip()[:1] in (b"{", b"["):
        return [*BYTES, *TEXTS, *[in_json] * 14]
    return [*BYTES, *TEXTS, *TEXTS]


def _place(data: bytes, rng: Rng, longest: int = 64) -> tuple[int, int]:
    first = int(rng.integers(len(data) + 1))
    return first, min(len(data), first + int(rng.integers(1, longest)))


def flip(data: bytes, rng: Rng) -> bytes | None:
    """A few bits are others."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        if changed:
            changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(data: bytes, rng: Rng) -> bytes | None:
    """The end is missing."""
    return data[: int(rng.integers(len(data) + 1))]


def double(data: bytes, rng: Rng) -> bytes | None:
    """A stretch comes twice, or many times."""
    first, last = _place(data, rng)
    return data[:last] + data[first:last] * int(rng.choice([1, 1, 100, 3000])) + data[last:]


def drop(data: bytes, rng: Rng) -> bytes | None:
    """A stretch is missing."""
    first, last = _place(data, rng)
    return data[:first] + data[last:]


def insert(data: bytes, rng: Rng) -> bytes | None:
    """Strange bytes in between: any, zeros or the highest."""
    at, count = int(rng.integers(len(data) + 1)), int(rng.integers(1, 32))
    strange = (rng.bytes(count), b"\0" * count, b"\xff" * count, b"\xef\xbb\xbf", b"\r\n")
    return data[:at] + strange[int(rng.integers(len(strange)))] + data[at:]


def empty(data: bytes, rng: Rng) -> bytes | None:
    """Nothing is left, or nothing but white space."""
    return (b"", b"\n", b" ")[int(rng.integers(3))]


def number(data: bytes, rng: Rng) -> bytes | None:
    """A number is another, or none."""
    word = NUMBERS[int(rng.integers(len(NUMBERS)))].encode()
    return _replaced(data, NUMBER, word, rng)


def word(data: bytes, rng: Rng) -> bytes | None:
    """A word is replaced by another of the file's, or by none."""
    words = WORD.findall(data) or [b""]
    return _replaced(data, WORD, (*words, b"")[int(rng.integers(len(words) + 1))], rng)


def _replaced(data: bytes, what: re.Pattern, by: bytes, rng: Rng) -> bytes | None:
    found = list(what.finditer(data))
    if not found:
        return None
    at = found[int(rng.integers(len(found)))]
    return data[: at.start()] + by + data[at.end() :]


def lines(data: bytes, rng: Rng) -> bytes | None:
    """Two lines change places, or one is missing or comes many times."""
    rows = data.split(b"\n")
    a, b = rng.integers(len(rows), size=2)
    way = int(rng.integers(3))
    if way == 0:
        rows[a], rows[b] = rows[b], rows[a]
    elif way == 1:
        del rows[a]
    else:
        rows[a:a] = [rows[b]] * int(rng.choice([1, 2, 500]))
    return b"\n".join(rows)


def deep(data: bytes, rng: Rng) -> bytes | None:
    """Brackets and blocks are opened thousands of times."""
    at, what = int(rng.integers(len(data) + 1)), DEEP[int(rng.integers(len(DEEP)))]
    return data[:at] + what * int(rng.choice([50, 1500, 30000])) + data[at:]


def in_json(data: bytes, rng: Rng) -> bytes | None:
    """A value anywhere in the tree is replaced, missing, renamed, doubled, nested or exchanged with another."""
    try:
        return json.dumps(change(json.loads(data), rng)).encode()
    except (ValueError, RecursionError):
        return None


def in_glb(data: bytes, rng: Rng) -> bytes | None:
    """The JSON part of a binary glTF is changed, its lengths put right, or one of its floats is none."""
    length = int.from_bytes(data[12:16], "little")
    try:
        tree = json.loads(data[20 : 20 + length])
    except (ValueError, RecursionError):
        return None
    rest = bytearray(data[20 + length :])
    if rng.random() < 0.3 and len(rest) > 40:
        at = 8 + 4 * int(rng.integers((len(rest) - 8) // 4))
        rest[at : at + 4] = struct.pack("<f", [np.nan, np.inf, -1e38, 1e30, -1.0][int(rng.integers(5))])
    else:
        tree = change(tree, rng)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    total = 20 + len(text) + len(rest)
    return data[:8] + struct.pack("<II", total, len(text)) + b"JSON" + text + bytes(rest)


BYTES: list[Way] = [flip, flip, cut, double, drop, insert, insert, empty]
TEXTS: list[Way] = [number, number, number, word, word, lines, deep]
