"""Undo and redo: states behind, the present one, states ahead."""

from dataclasses import dataclass
from typing import Generic, TypeVar

LENGTH = 200  # steps kept

S = TypeVar("S")


@dataclass(frozen=True)
class History(Generic[S]):
    """An immutable history of immutable states."""

    now: S
    past: tuple[S, ...] = ()
    future: tuple[S, ...] = ()


def do(history: History[S], state: S) -> History[S]:
    """A step to a new state; what had been undone is forgotten."""
    return History(state, (*history.past, history.now)[-LENGTH:], ())


def undo(history: History[S]) -> History[S]:
    """A step back, if there is one."""
    if not history.past:
        return history
    *past, now = history.past
    return History(now, tuple(past), (history.now, *history.future))


def redo(history: History[S]) -> History[S]:
    """A step that was undone, if there is one."""
    if not history.future:
        return history
    now, *future = history.future
    return History(now, (*history.past, history.now), tuple(future))
