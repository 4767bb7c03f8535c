"""What a joint's name says, however it is spelt: `mixamorig:LeftArm`, `CC_Base_L_Upperarm`, `upperarm.l`, `larm`."""

import re
from collections import Counter

SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
OTHER = {"l": "r", "r": "l", "L": "R", "R": "L"}


def parts(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Side ("left", "right" or "") and core name (lower case, letters and digits) of each joint.

    What stands before a ":" or "|" is dropped, and so are first words that most joints share. A side may be a word of
    its own, or a first letter where the joint with the other letter exists.
    """
    bare = [re.split(r"[:|]", name)[-1] for name in names]
    words = _unprefixed([re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name) for name in bare])
    return [_side_and_core(w, name, set(bare)) for w, name in zip(words, bare, strict=True)]


def _unprefixed(rows: list[list[str]]) -> list[list[str]]:
    while True:
        firsts = Counter(row[0].lower() for row in rows if len(row) > 1)
        common, count = firsts.most_common(1)[0] if firsts else ("", 0)
        if common in SIDES or 2 * count <= len(rows):
            return rows
        rows = [row[1:] if len(row) > 1 and row[0].lower() == common else row for row in rows]


def _side_and_core(words: list[str], name: str, names: set[str]) -> tuple[str, str]:
    words = [w.lower() for w in words]
    if len(words) > 1 and words[0] in ("c", "center"):  # VRM says so of the trunk
        words = words[1:]
    sides = [w for w in words if w in SIDES]
    if sides:
        rest = list(words)
        rest.remove(sides[0])
        return SIDES[sides[0]], "".join(rest)
    if name[:1] in OTHER and OTHER[name[0]] + name[1:] in names:
        return SIDES[name[0].lower()], "".join(words)[1:]
    return "", "".join(words)
