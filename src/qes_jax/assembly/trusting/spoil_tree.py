"""How a tree of JSON values is spoilt."""

import json
from typing import Any

import numpy as np

Rng = np.random.Generator
VALUES = (
    None, [], {}, "", "x", True, False, -1, 0, 1, 2**31, 2**63, 2**70, -(2**63), 1e308, float("nan"), float("inf"),
    float("-inf"), 1e-320, [[]], [None], {"": None}, "\ud800", "../../../etc/passwd", "/dev/zero", "\0", [0.0] * 1000,
)  # fmt: skip


def change(tree: Any, rng: Rng) -> Any:
    """A JSON tree with one change."""
    places = list(_places(tree))
    if not places:
        return VALUES[int(rng.integers(len(VALUES)))]
    holder, key = places[int(rng.integers(len(places)))]
    way = int(rng.integers(6))
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    elif way == 2 and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif way == 3:
        other, there = places[int(rng.integers(len(places)))]
        holder[key] = json.loads(json.dumps(other[there]))
    elif way == 4:
        holder[key] = [holder[key]]
    else:
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    return tree


def _places(tree: Any, most: int = 4000) -> list[tuple[Any, Any]]:
    """Holders and keys of the values of a tree, without many of the items of long lists."""
    found, todo = [], [tree]
    while todo and len(found) < most:
        holder = todo.pop()
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))[:12]
        found += [(holder, key) for key in keys]
        todo += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found
