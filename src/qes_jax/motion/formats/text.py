"""Text files of strangers in whatever encoding: told by the byte-order mark, else by where zeros stand, else UTF-8."""

import codecs
from pathlib import Path

from qes_jax.motion.formats.recording import RecordingError

MARKS = (  # UTF-32 first: its mark begins as that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
START = 4096  # bytes by which a format is told


def encoding(data: bytes) -> str:
    """The encoding's name. A letter in UTF-16 has a zero beside it; what is not UTF-8 is taken for Windows' Latin."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    start = data[:400]
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) >= 4 and start[first::2].count(0) > 0.8 * len(start[first::2]) > start[1 - first :: 2].count(0):
            return name
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return "utf-8" if error.end >= len(data) and len(data) == START else "cp1252"  # it may be cut in a letter
    return "utf-8"


def read_text(path: Path) -> str:
    """All of a text file; what its encoding does not have is replaced. Raises RecordingError where it is no text."""
    data = path.read_bytes()
    name = encoding(data)
    text = data.decode(name, errors="replace")
    if "\0" in text[:START]:
        raise RecordingError(
            f"{path}: holds zero bytes: no text, or in an encoding other than UTF-8, UTF-16 and UTF-32"
        )
    return text


def read_start(path: Path) -> str:
    """The beginning of a file as text, whatever it is: without comments and blank lines before the first words."""
    with path.open("rb") as file:
        data = file.read(START)
    lines = data.decode(encoding(data), errors="replace").lstrip("\ufeff").splitlines()
    first = next((i for i, line in enumerate(lines) if line.strip() and not is_comment(line)), len(lines))
    return "\n".join(lines[first:]).lstrip()


def is_comment(line: str) -> bool:
    """Whether a line is one by the signs that programs use for it."""
    return line.lstrip().startswith(("#", "//", ";"))
