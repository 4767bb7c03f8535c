"""A headset session mended: what is surely a fault of device or clock is undone, else it is cut there; all is said.

In this order: clocks, sides, sleep, leaps of the headset (glitches are left out, a recentring is undone, and where
neither explains a leap, or the headset was silent for long, the session is cut in parts of which one is taken), then
controllers: their leaps, and where they are out of reach. What is left out is a gap, see `sensors.resample`.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from qes_jax.motion import session
from qes_jax.motion.formats.device import HOLD, SENSORS, SWAPPED, DeviceRecording, Stream, places, swapped
from qes_jax.motion.formats.recording import RecordingError

Streams = tuple[Stream, Stream, Stream]


def mend(recording: DeviceRecording, part: int | None = None) -> DeviceRecording:
    """The session without its faults, its `notes` saying what was done. `part` counts from 1; the longest where None.

    Raises RecordingError where nothing is left.
    """
    notes = [note for stream in recording.streams for note in stream.notes]
    streams = _on_one_clock(recording.streams, notes)
    if swapped(streams):
        streams = (streams[0], streams[2], streams[1])
        notes.append(SWAPPED)
    streams = tuple(_awake(s, name, notes) for s, name in zip(streams, SENSORS, strict=True))
    for stream, name in zip(streams, SENSORS, strict=True):
        if session.same_turn(stream.quat):
            notes.append(f"WARNING {name}: its orientation never changes, so it is not known; places alone are")
    if session.upright(streams[0].quat) < session.LEVEL:
        notes.append("WARNING headset: it is not upright; are its quaternion's numbers in another order?")
    streams, cuts = _settled(streams, notes)
    streams = _one_part(recording.source, streams, cuts, part, notes)
    head, *hands = streams
    left, right = (_followed(hand, head, name, notes) for hand, name in zip(hands, SENSORS[1:], strict=True))
    return replace(recording, streams=(head, left, right), notes=recording.notes + tuple(notes))


def _since(streams: Streams, time: float) -> str:
    return f"{time - streams[0].time[0]:.2f} s"


def _on_one_clock(streams: Streams, notes: list[str]) -> Streams:
    """All devices on the headset's clock."""
    head, hands = streams[0], []
    for hand, name in zip(streams[1:], SENSORS[1:], strict=True):
        off = session.clock_offset(hand.time, head.time)
        if off:
            notes.append(f"{name}: its clock is off by {-off:.2f} s: it is taken to begin with the headset")
        hands.append(replace(hand, time=hand.time + off))
    return head, hands[0], hands[1]


def _without(stream: Stream, drop: np.ndarray) -> Stream:
    """The stream without some samples (N,), which count as lost; where none would stay, the first and the last do."""
    keep = ~drop
    if keep.sum() < 2:
        keep = keep.copy()
        keep[[0, -1]] = True
    gone = int((~keep).sum())
    return replace(
        stream, time=stream.time[keep], pos=stream.pos[keep], quat=stream.quat[keep], lost=stream.lost + gone
    )


def _awake(stream: Stream, name: str, notes: list[str]) -> Stream:
    sleeps = session.asleep(stream.time, stream.pos)
    if not sleeps.any():
        return stream
    since = stream.time[np.argmax(sleeps)] - stream.time[0]
    notes.append(
        f"{name}: stands still to the last bit in {int(sleeps.sum())} samples, first at {since:.2f} s: "
        "asleep, not tracked"
    )
    return _without(stream, sleeps)


def _settled(streams: Streams, notes: list[str]) -> tuple[Streams, list[float]]:
    """The streams without the headset's glitches and recentrings, and the times [s] of leaps that nothing explains."""
    cuts: list[float] = []
    wrong, _ = session.mistracked(streams[0].time, streams[0].pos, streams[0].quat, session.HEAD)
    if wrong.any():
        at = _since(streams, streams[0].time[np.argmax(wrong)])
        notes.append(f"headset: {int(wrong.sum())} samples, first at {at}, to which no person leaps: not tracked")
        streams = (_without(streams[0], wrong), *streams[1:])
    head = streams[0]
    for at in np.flatnonzero(session.leaps(head.time, head.pos, head.quat, session.HEAD)):
        head = streams[0]
        way = np.linalg.norm(head.pos[at] - head.pos[at - 1])
        moved = session.recentring(head.time, head.pos, head.quat, at)
        starts = _starts(streams, at, moved) if moved else None
        if moved is None or starts is None:
            cuts.append(float(head.time[at]))
            notes.append(
                f"headset: leaps {way:.2f} m at {_since(streams, head.time[at])}, as no person does: the session is cut"
            )
        else:
            notes.append(
                f"recentred at {_since(streams, head.time[at])}, turned by {np.degrees(moved.yaw):.0f} degrees and "
                f"shifted by {way:.2f} m: undone"
            )
            streams = tuple(_undone(s, start, moved) for s, start in zip(streams, starts, strict=True))
    return streams, cuts


def _starts(streams: Streams, at: int, moved: session.Recentring) -> tuple[int, int, int] | None:
    """From which sample on each device is in a recentred space, None where the controllers do not bear it out."""
    head = streams[0]
    before, after = float(head.time[at - 1]), float(head.time[at])
    found = [session.follows(s.time, s.pos, moved, before, after) for s in streams[1:]]
    if -1 in found or found == [None, None]:
        return None
    later = [int(np.searchsorted(s.time, after)) for s in streams[1:]]
    first, second = (n if f is None else f for f, n in zip(found, later, strict=True))
    return at, first, second


def _undone(stream: Stream, start: int, moved: session.Recentring) -> Stream:
    pos, quat = stream.pos.copy(), stream.quat.copy()
    if start < len(pos):
        pos[start:], quat[start:] = moved.undo(pos[start:], quat[start:])
    return replace(stream, pos=pos, quat=quat)


def _one_part(source: str, streams: Streams, cuts: list[float], part: int | None, notes: list[str]) -> Streams:
    """The streams in the chosen part of the headset's time."""
    head = streams[0].time
    ends = sorted({*np.searchsorted(head, cuts).tolist(), *(s.start for s in session.parts(head))} | {len(head)})
    spans = [(float(head[a]), float(head[b - 1])) for a, b in pairwise(ends)]
    if part is not None and not 1 <= part <= len(spans):
        raise RecordingError(f"{source}: part {part} is not there, the session has {len(spans)}")
    if len(spans) == 1:
        return streams
    lengths = [b - a for a, b in spans]
    chosen = int(np.argmax(np.round(lengths, 2))) if part is None else part - 1
    for before, after in pairwise(spans):
        if after[0] - before[1] > session.PAUSE:
            notes.append(f"headset: {after[0] - before[1]:.1f} s without a sample: the session is cut")
    told = ", ".join(f"{n}: {length:.2f} s" for n, length in enumerate(lengths, start=1))
    notes.append(f"WARNING cut into parts ({told}); taken is part {chosen + 1}, --part N takes another")
    result = tuple(_between(s, *spans[chosen]) for s in streams)
    if len(result[0].time) < 2:
        raise RecordingError(f"{source}: headset: part {chosen + 1} has fewer than two samples")
    return result


def _between(stream: Stream, start: float, end: float) -> Stream:
    """The samples from `start` to `end` [s]; where there is none, the one nearest to the start, which tells nothing."""
    keep = (stream.time >= start - 1e-9) & (stream.time <= end + 1e-9)
    if not keep.any():
        keep[np.argmin(np.abs(stream.time - start))] = True
    return replace(stream, time=stream.time[keep], pos=stream.pos[keep], quat=stream.quat[keep])


def _followed(hand: Stream, head: Stream, name: str, notes: list[str]) -> Stream:
    """A controller without what its leaps and its distance from the headset show to be wrong."""
    wrong, lasting = session.mistracked(hand.time, hand.pos, hand.quat, session.HAND)
    for at in lasting:
        wrong |= (hand.time >= hand.time[at]) & (hand.time <= hand.time[at] + HOLD)
    if wrong.any():
        at = hand.time[np.argmax(wrong)] - head.time[0]
        notes.append(
            f"{name}: {int(wrong.sum())} samples, first at {at:.2f} s, about leaps that no arm makes: not tracked"
        )
        hand = _without(hand, wrong)
    at_head, there = places(head, hand.time)
    away = there & session.out_of_reach(at_head, hand.pos)
    if away.any():
        notes.append(f"{name}: {int(away.sum())} samples farther from the headset than arms reach: not tracked")
        hand = _without(hand, away)
    return hand
