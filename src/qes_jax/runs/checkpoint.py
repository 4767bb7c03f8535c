"""Checkpoints of a run: a pytree of arrays and a little JSON, written atomically by Orbax.

    checkpoints/00000120/state   the leaves, each under its path in the tree
    checkpoints/00000120/meta    JSON: what the caller says, and shape, type and checksum of every leaf

Every leaf is checked against its checksum at reading, so that a truncated or altered file is noticed and the next older
checkpoint is taken.
"""

import json
import logging
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

log = logging.getLogger(__name__)

KEY_IMPLS = {2: ("threefry2x32",), 4: ("rbg", "unsafe_rbg")}  # JAX's, by the words of a key


class Restored(NamedTuple):
    """A checkpoint read back, and why newer ones were passed over (one line each)."""

    state: Any
    meta: dict[str, Any]
    skipped: list[str]


@dataclass(frozen=True)
class CheckpointStore:
    """The checkpoints of one run.

    keep_last: how many of the newest stay.
    best: the entry of `meta` whose highest value stays as well; empty for none.
    """

    folder: Path
    keep_last: int = 3
    best: str = ""

    def save(self, number: int, state: Any, meta: Mapping[str, Any]) -> Path:
        """Writes checkpoint `number` whole or not at all, then removes those no longer kept.

        state: any pytree of arrays and numbers; typed random keys are saved as their data.
        meta: JSON values, read back as they were.
        """
        path = self.folder.absolute() / f"{number:08d}"
        leaves = named_leaves(state)
        info = {name: _describe(x) for name, x in leaves.items()}
        with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as writer:
            filled = {name: x for name, x in leaves.items() if x.size}  # Orbax takes no empty array
            arguments = ocp.args.Composite(
                state=ocp.args.PyTreeSave(filled), meta=ocp.args.JsonSave(_signed({"user": dict(meta), "leaves": info}))
            )
            writer.save(path, args=arguments, force=True)
        self._prune()
        return path

    def numbers(self) -> list[int]:
        """Numbers of the checkpoints that were finished, ascending; whether they can be read is not looked at."""
        return sorted(int(p.name) for p in self.folder.glob("*") if p.name.isdigit() and p.is_dir())

    def restore_latest(self, like: Any) -> Restored | None:
        """The newest checkpoint that can be read, in the shape of `like`; None where there is none at all.

        like: a pytree of arrays or of `jax.ShapeDtypeStruct`.
        Raises ValueError where a checkpoint does not fit `like`, CheckpointError where all that there are are broken.
        """
        found = self.latest()
        return found and found._replace(state=fill(like, found.state, "the checkpoint"))

    def latest(self) -> Restored | None:
        """The newest checkpoint that can be read, as nothing but its leaves by name; None where there is none at all.

        Raises CheckpointError where there are some and all are broken.
        """
        skipped: list[str] = []
        for number in reversed(self.numbers()):
            try:
                leaves, meta = load(self.folder / f"{number:08d}")
            except CheckpointError as error:
                skipped.append(str(error))
                log.warning("skipped a broken checkpoint: %s", error)
                continue
            return Restored(leaves, meta, skipped)
        if skipped:
            raise CheckpointError(f"{self.folder}: no checkpoint can be read:\n" + "\n".join(skipped))
        return None

    def best_number(self) -> int | None:
        """The checkpoint with the highest `meta[best]`; None where no readable one has it."""
        scores = {n: self._score(n) for n in self.numbers()} if self.best else {}
        known = {n: s for n, s in scores.items() if s is not None}
        return max(known, key=lambda n: known[n]) if known else None

    def _score(self, number: int) -> float | None:
        try:
            score = _read_meta(self.folder / f"{number:08d}")["user"].get(self.best)
        except CheckpointError:
            return None
        return score if score == score else None  # NaN is no score

    def _prune(self) -> None:
        keep = {*self.numbers()[-self.keep_last :], self.best_number()}
        for number in set(self.numbers()) - keep:
            shutil.rmtree(self.folder / f"{number:08d}")
        for leftover in self.folder.glob("*.orbax-checkpoint-tmp*"):  # of a save that was killed
            shutil.rmtree(leftover, ignore_errors=True)


class CheckpointError(ValueError):
    """A checkpoint that cannot be read: says which, which leaf, and why."""


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Leaves of one checkpoint by their path in the tree, such as `train/params/policy/0`, and its `meta`.

    Raises CheckpointError where anything is missing or differs from what was written.
    """
    described = _read_meta(path)
    try:
        return _leaves(path, described["leaves"]), described["user"]
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path}: meta is not as it was written: {type(error).__name__} {error}") from error


def _leaves(path: Path, described: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The leaves that were described when they were written, each as it was."""
    wanted = {name: x for name, x in described.items() if 0 not in x["shape"]}
    leaves = _read(path, state=ocp.args.PyTreeRestore(restore_args={n: ocp.RestoreArgs(np.ndarray) for n in wanted}))
    for name, expected in described.items():
        if name not in wanted:
            leaves[name] = np.zeros(expected["shape"], expected["dtype"])
        found = _describe(np.asarray(leaves[name]))
        if expected["crc32"] is not None and found != expected:
            raise CheckpointError(f"{path}: leaf {name} was written as {expected} and is read as {found}")
    return leaves


def fill(like: Any, leaves: Mapping[str, np.ndarray], where: str) -> Any:
    """The pytree `like` with its leaves taken by name, on the devices that `like` lies on.

    Raises ValueError that names the leaf which is missing, left over, or of another shape or type.
    """
    expected = jax.tree_util.tree_flatten_with_path(like)[0]
    names = [_name(path) for path, _ in expected]
    odd = sorted(set(names) ^ leaves.keys())
    if odd:
        raise ValueError(f"{where} does not fit this configuration: {odd[0]} is only in one of both ({len(odd)} such)")
    filled = [_place(leaves[n], x, f"{where}: {n}") for n, (_, x) in zip(names, expected, strict=True)]
    return jax.tree.unflatten(jax.tree.structure(like), filled)


def nest(leaves: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Leaves by their path as nested dictionaries of arrays: {"train/lr": x} -> {"train": {"lr": x}}."""
    tree: dict[str, Any] = {}
    for name, value in leaves.items():
        *folders, leaf = name.split("/")
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[leaf] = jnp.asarray(value)
    return tree


def named_leaves(tree: Any) -> dict[str, Any]:
    """Leaves by their path in the tree, typed random keys as their data, Python numbers as arrays."""
    flat = jax.tree_util.tree_flatten_with_path(tree)[0]
    leaves = {_name(path): _data(x) for path, x in flat}
    if len(leaves) != len(flat):
        raise ValueError("two leaves of the tree have the same path in writing")
    return leaves


def _name(path: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/") or "root"


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _data(x: Any) -> Any:
    if _is_key(x):
        return jax.random.key_data(x)
    return x if isinstance(x, jax.Array) else np.asarray(x)


def _describe(x: Any) -> dict[str, Any]:
    whole = not isinstance(x, jax.Array) or x.is_fully_addressable  # else no process has all of it: no checksum
    crc = zlib.crc32(np.ascontiguousarray(x).tobytes()) if whole else None
    return {"shape": list(x.shape), "dtype": str(x.dtype), "crc32": crc}


def _place(x: np.ndarray, like: Any, where: str) -> Any:
    """`x` as the kind of leaf that `like` is. Copies: the caller may donate its buffer."""
    if _is_key(like):
        data = _place(x, jax.eval_shape(jax.random.key_data, like), where)
        kinds = (jax.random.wrap_key_data(data, impl=i) for i in KEY_IMPLS[data.shape[-1]])
        return next(key for key in kinds if key.dtype == like.dtype)  # `like` may be abstract: only its type is known
    if not hasattr(like, "dtype"):
        return type(like)(x.item())
    if (x.shape, x.dtype) != (like.shape, like.dtype):
        raise ValueError(f"{where} is {x.dtype}{list(x.shape)}, this configuration has {like.dtype}{list(like.shape)}")
    if isinstance(like, np.ndarray):
        return np.array(x)
    sharding = getattr(like, "sharding", None)
    spread = sharding is not None and len(sharding.device_set) > 1
    return jax.device_put(x, sharding, may_alias=False) if spread else jnp.array(x)


def _signed(content: dict[str, Any]) -> dict[str, Any]:
    """The same with a checksum of its JSON."""
    return content | {"crc32": zlib.crc32(json.dumps(content, sort_keys=True).encode())}


def _read_meta(path: Path) -> dict[str, Any]:
    """What was said of a checkpoint, and its leaves' descriptions; those before version 0.3 have no checksum."""
    found = _read(path, meta=ocp.args.JsonRestore())
    expected = found.pop("crc32", None)
    if not (isinstance(found.get("user"), dict) and isinstance(found.get("leaves"), dict)):
        raise CheckpointError(f"{path}: meta is not as it was written: no user or no leaves")
    if expected is not None and _signed(found)["crc32"] != expected:
        raise CheckpointError(f"{path}: meta is not as it was written: its checksum differs")
    return found


def _read(path: Path, **item: Any) -> Any:
    """One item of a checkpoint. Whatever goes wrong in there means that the checkpoint is broken."""
    (name,) = item
    try:
        with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as reader:
            found = reader.restore(path.absolute(), args=ocp.args.Composite(**item))[name]
    except Exception as error:
        raise CheckpointError(f"{path}: {name} cannot be read: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(found, dict):
        raise CheckpointError(f"{path}: {name} is missing")
    return found
