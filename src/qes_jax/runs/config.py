"""Typed configuration back from the JSON saved beside a run."""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def from_json(cls: type[T], data: Any, where: str = "config") -> T:
    """An instance of dataclass `cls` from JSON values; fields may be dataclasses, tuples, dicts, Literals, Optionals.

    Missing fields take their defaults. Raises ValueError that names the field, and the valid ones where it is unknown.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where}: expected the fields of {cls.__name__}, got {data!r}")
    hints = typing.get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
    unknown = sorted(data.keys() - set(names))
    if unknown:
        raise ValueError(f"{where}.{unknown[0]}: unknown field of {cls.__name__}; the fields are {', '.join(names)}")
    values = {name: _value(hints[name], data[name], f"{where}.{name}") for name in names if name in data}
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _value(hint: Any, x: Any, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, x, where)
    if origin in (typing.Union, types.UnionType):
        return _union(args, x, where)
    if origin is typing.Literal:
        return _check(x in args, x, where, f"one of {args}")
    if origin is tuple:
        return _tuple(args, x, where)
    if origin in (list, dict):
        _check(isinstance(x, origin), x, where, f"a {origin.__name__}")
        item = args[-1] if args else Any
        if origin is dict:
            return {k: _value(item, v, f"{where}.{k}") for k, v in x.items()}
        return [_value(item, v, f"{where}[{i}]") for i, v in enumerate(x)]
    return _plain(hint, x, where)


def _union(args: tuple[Any, ...], x: Any, where: str) -> Any:
    errors = []
    for hint in args:
        try:
            return _value(hint, x, where)
        except ValueError as error:
            errors.append(str(error))
    raise ValueError(" or ".join(errors))


def _tuple(args: tuple[Any, ...], x: Any, where: str) -> tuple[Any, ...]:
    _check(isinstance(x, (list, tuple)), x, where, "a list")
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(x)
    args = args or (Any,) * len(x)
    _check(len(x) == len(args), x, where, f"a list of {len(args)}")
    return tuple(_value(hint, v, f"{where}[{i}]") for i, (hint, v) in enumerate(zip(args, x, strict=True)))


def _plain(hint: Any, x: Any, where: str) -> Any:
    if hint is Path:
        return Path(_check(isinstance(x, str), x, where, "a path"))
    if hint is float and isinstance(x, int) and not isinstance(x, bool):
        _check(abs(x) < 2**1000, x, where, "a number")
        return float(x)
    if isinstance(x, float):
        _check(math.isfinite(x), x, where, "a finite number")
    if hint in (int, float, str, bool, type(None)):
        expected = "null" if hint is type(None) else hint.__name__
        return _check(isinstance(x, hint) and (hint is bool or not isinstance(x, bool)), x, where, expected)
    return x


def _check(good: bool, x: Any, where: str, expected: str) -> Any:
    if not good:
        raise ValueError(f"{where}: expected {expected}, got {x!r:.200}")
    return x
