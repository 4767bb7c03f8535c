"""The container of glTF 2.0 (Khronos 2017): JSON and buffers of a .gltf or .glb file, and its accessors as arrays.

A reader of our own: pygltflib parses the JSON and leaves accessors, which are most of the work, to its user, and
trimesh reads meshes but no animations.
"""

import base64
import binascii
import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from qes_jax.motion.formats.recording import RecordingError

MAGIC, JSON_CHUNK, BIN_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
MOST = 50_000_000  # numbers in one accessor: a file of a few bytes can ask for any amount of zeros
LISTS = ("accessors", "animations", "buffers", "bufferViews", "nodes", "skins")
BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, struct.error)


@dataclass(frozen=True)
class Document:
    """A parsed file: the top-level lists of its JSON that are read, and each buffer's bytes."""

    path: Path
    asset: dict[str, Any]
    lists: dict[str, list[dict[str, Any]]]
    buffers: tuple[bytes, ...] = ()


@contextmanager
def reading(path: Path, place: str) -> Iterator[None]:
    """Turns what broken content raises into a RecordingError that names the place."""
    try:
        yield
    except RecordingError:
        raise
    except BROKEN as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
        raise RecordingError(f"{path}: field {place}: {what}") from None


def entry(items: Sequence, index: Any, what: str) -> Any:
    """items[index] of an index from a file. Raises ValueError if there is none."""
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(items):
        raise ValueError(f"{what} {index!r} does not exist, there are {len(items)}")
    return items[index]


def is_gltf(path: str | Path) -> bool:
    """Whether the file is a .glb by its first bytes, or JSON that is called .gltf."""
    path = Path(path)
    with open(path, "rb") as file:
        return file.read(4) == MAGIC or path.suffix.lower() == ".gltf"


def read_document(path: str | Path) -> Document:
    """JSON and buffers, embedded, beside the file, or in data URIs. Raises RecordingError."""
    path = Path(path)
    content = path.read_bytes()
    text, binary = _chunks(path, content) if content[:4] == MAGIC else (content, None)
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not readable JSON: {error}") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("asset"), dict):
        raise RecordingError(f"{path}: field asset is missing; is it glTF?")
    if not str(tree["asset"].get("version", "")).startswith("2"):
        raise RecordingError(f"{path}: field asset.version: {tree['asset'].get('version')!r}, this code reads glTF 2")
    document = Document(path, tree["asset"], {field: _list(path, tree, field) for field in LISTS})
    return replace(document, buffers=tuple(_buffers(document, binary)))


def _list(path: Path, tree: dict[str, Any], field: str) -> list[dict[str, Any]]:
    value = tree.get(field, [])
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise RecordingError(f"{path}: field {field} is not a list of objects")
    return value


def _chunks(path: Path, content: bytes) -> tuple[bytes, bytes | None]:
    """The JSON and the first binary chunk of a .glb."""
    chunks, at = {}, 12
    with reading(path, "chunks"):
        version, length = struct.unpack_from("<II", content, 4)
        if version != 2:
            raise ValueError(f"container version {version}, this code reads version 2")
        while at < min(length, len(content)):
            size, kind = struct.unpack_from("<II", content, at)
            if at + 8 + size > len(content):
                raise ValueError(f"a chunk of {size} bytes goes past the end of the file")
            chunks.setdefault(kind, content[at + 8 : at + 8 + size])
            at += 8 + size
        if JSON_CHUNK not in chunks:
            raise ValueError("there is no JSON chunk")
    return chunks[JSON_CHUNK], chunks.get(BIN_CHUNK)


def _buffers(document: Document, binary: bytes | None) -> Iterator[bytes]:
    for number, buffer in enumerate(document.lists["buffers"]):
        with reading(document.path, f"buffers[{number}]"):
            data = _buffer(document.path.parent, buffer.get("uri"), binary if number == 0 else None)
            if len(data) < buffer["byteLength"]:
                raise ValueError(f"holds {len(data)} bytes, expected {buffer['byteLength']}")
            yield data


def _buffer(folder: Path, uri: str | None, binary: bytes | None) -> bytes:
    if uri is None:
        if binary is None:
            raise ValueError("it has no uri, and the file no binary chunk")
        return binary
    if uri.startswith("data:"):
        try:
            return base64.b64decode(uri.partition(",")[2], validate=True)
        except binascii.Error as error:
            raise ValueError(f"its data uri is not base64: {error}") from None
    name = Path(unquote(uri))
    if ":" in uri or name.is_absolute() or ".." in name.parts:
        raise ValueError(f"uri {uri[:80]!r} does not lie beside the file")
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise ValueError(f"uri {uri[:80]!r} cannot be read: {error.strerror}") from None


def accessor(document: Document, index: int) -> np.ndarray:
    """(count, width) float64 values of an accessor; normalized integers come as fractions. Raises RecordingError."""
    with reading(document.path, f"accessors[{index}]"):
        item = entry(document.lists["accessors"], index, "accessor")
        kind, width, count = np.dtype(COMPONENTS[item["componentType"]]), WIDTHS[item["type"]], item["count"]
        if not 0 < count * width <= MOST:
            raise ValueError(f"count is {count}")
        values = np.zeros((count, width), kind)
        if "bufferView" in item:
            values = _strided(document, item["bufferView"], item.get("byteOffset", 0), kind, count, width)
        if "sparse" in item:
            values = _replaced(document, item["sparse"], values)
        result = values.astype(np.float64)
        if item.get("normalized") and kind.kind in "iu":
            result = np.maximum(result / np.iinfo(kind).max, -1.0)
        if not np.isfinite(result).all():
            raise ValueError("its values are not all finite")
        return result


def _strided(document: Document, view: int, offset: int, kind: np.dtype, count: int, width: int) -> np.ndarray:
    item = entry(document.lists["bufferViews"], view, "buffer view")
    if "EXT_meshopt_compression" in item.get("extensions", {}):
        raise ValueError("it is compressed by EXT_meshopt_compression, which this code does not read")
    data = entry(document.buffers, item["buffer"], "buffer")
    start, row = item.get("byteOffset", 0), kind.itemsize * width
    stride = item.get("byteStride", row)
    end = start + item["byteLength"]
    if min(start, offset) < 0 or stride < row or end > len(data) or start + offset + stride * (count - 1) + row > end:
        raise ValueError(f"{count} values of {row} bytes do not fit into buffer view {view}")
    return np.ndarray((count, width), kind, data, start + offset, (stride, kind.itemsize)).copy()


def _replaced(document: Document, sparse: dict, values: np.ndarray) -> np.ndarray:
    """`values` with the few that a sparse accessor gives in their place."""
    count, (places, news) = sparse["count"], (sparse["indices"], sparse["values"])
    kind = np.dtype(COMPONENTS[places["componentType"]])
    at = _strided(document, places["bufferView"], places.get("byteOffset", 0), kind, count, 1)[:, 0]
    width = values.shape[1]
    values[at] = _strided(document, news["bufferView"], news.get("byteOffset", 0), values.dtype, count, width)
    return values
