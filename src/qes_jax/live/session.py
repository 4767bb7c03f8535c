"""One user and one body, tick by tick: who is there, what is shown, when the body stands up again."""

import dataclasses
import math
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from qes_jax.evaluate.likeness import TOUCHED
from qes_jax.evaluate.stream import Pose
from qes_jax.live.glide import LEAP, Glide
from qes_jax.live.incoming import Incoming, Seen
from qes_jax.live.person import (
    STILL,
    CalibrationError,
    Person,
    Stance,
    check_name,
    hands,
    load_person,
    measure,
    save_person,
)
from qes_jax.live.record import RESET, STEP, Recorder
from qes_jax.live.record import Session as Recorded
from qes_jax.live.room import Room, moved
from qes_jax.live.wire import POINTS, Sample
from qes_jax.motion.formats.device import HOLD
from qes_jax.motion.frames import yaw_of

QUIET = 1.0  # [s] without a message, or the headset unseen, after which the user is away
STAND = 0.7  # [s] of standing still before the body is put under the user
UPRIGHT = 0.85  # of the standing eyes' height
LOST, PATIENCE = 0.5, 0.5  # [m] of mean error for so many [s]: the body has fallen, as the evaluation has it
RIGID = 0.3  # [m] by which a hand's distance from the headset may change while the origin moves
FADE = 0.5  # [s]
COUNTDOWN = 3.0  # [s] of a calibration, measured in its last second
FLAGS = {"paused": 1, "held": 2, "gliding": 4, "fallen": 8, "recording": 16}

SAYINGS = {
    "waiting": "waiting for a headset, or take the body by the mouse",
    "still": "stand still and look ahead",
    "upright": "stand up straight and still",
    "aside": "step aside, furniture is in the way",
    "calibrating": "arms straight, a little out from the body, look ahead",
    "live": "",
    "away": "the headset is not seen",
    "fallen": "the body fell; it stands up where you are",
    "paused": "paused",
}


@dataclass
class Count:
    """What happened so far."""

    falls: int = 0
    recentred: int = 0
    missed: int = 0  # ticks that came too late


@dataclass(frozen=True)
class Tick:
    """What a page shows of a moment: K bodies, then the user's three points."""

    number: int
    t: float
    pos: np.ndarray  # (K+3, 3)
    quat: np.ndarray  # (K+3, 4)
    error: float
    flags: int
    touching: int  # bits by link


@dataclass
class Live:
    """The state of a session. Every method is called from one thread but `take`, which only appends."""

    room: Room
    people: Path  # folder of measures
    person: Person = field(default_factory=Person)
    measured: bool = False  # whether `person` was measured, not guessed from where the eyes are
    phase: str = "waiting"
    note: str = ""  # the last thing to tell, beyond the phase's
    count: Count = field(default_factory=Count)

    def __post_init__(self) -> None:
        self.incoming = Incoming()
        self.stance: Stance | None = None
        self._inbox: deque[tuple[Sample, float]] = deque(maxlen=512)
        self._say = ""
        self._number = 0
        self._move_in(self.room)

    def _move_in(self, room: Room) -> None:
        self.room = room
        self.dt = room.follower.task.config.ctrl_dt
        figure = room.figure
        self.glide = Glide(figure.rest_pos[1:] - figure.rest_pos[0], figure.rest_quat[1:], self.dt)
        self.recorder = Recorder(room)
        self.points = figure.rest_pos, figure.rest_quat
        self.pose: Pose = room.follower.reset(*self.points)
        self._raw: Seen | None = None  # what the body last followed
        self._watch: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=round(COUNTDOWN / self.dt))
        self._since = 0.0
        self._bad = self._odd = 0

    def move_in(self, room: Room) -> None:
        """Another room or policy; the user stands still once more."""
        self._move_in(room)
        if self.stance is not None:
            self.stance = dataclasses.replace(self.stance, scale=room.figure.eye_height / self.person.eye_height)
        self._enter("still" if self.incoming.arrival is not None else "waiting", 0.0)

    def take(self, sample: Sample, arrival: float) -> None:
        """A sample from the user's device; looked at in the next tick."""
        self._inbox.append((sample, arrival))

    def tick(self, now: float) -> Tick:
        """One control step at `now` [s] by our clock."""
        self._number += 1
        while self._inbox:
            self.incoming.take(*self._inbox.popleft())
        if self.phase != "paused":
            self._advance(self.incoming.at(now), now)
        return self._show(now)

    def _advance(self, seen: Seen, now: float) -> None:
        """What the phase asks for."""
        arrival = self.incoming.arrival
        there = arrival is not None and now - arrival < QUIET and seen.visible and seen.age[0] < QUIET
        if self.phase == "waiting" and there:
            self._enter("still", now)
        elif self.phase in ("still", "live", "calibrating", "fallen") and not there:
            self._enter("away", now)
        elif self.phase == "away" and there:
            self._come_back(seen, now)
        if self.phase in ("still", "calibrating", "fallen"):
            self._watch.append((seen.pos, seen.quat))
            getattr(self, f"_{self.phase}")(seen, now)
        elif self.phase == "live":
            self._live(seen, now)

    def _enter(self, phase: str, now: float) -> None:
        self.phase, self._say, self._since = phase, SAYINGS[phase], now
        self._watch.clear()
        self._bad = self._odd = 0

    def _still(self, seen: Seen, now: float) -> None:
        """Wait until the user stands; then put the body there."""
        frames = round(STAND / self.dt)
        recent = np.array([pos[0] for pos, _ in self._watch])[-frames:]
        if len(recent) < frames or np.ptp(recent, axis=0).max() > STILL:
            return
        eyes = float(seen.pos[0, 2]) - self.person.floor
        if not self.measured and 0.9 < eyes < 2.3 and self.stance is None:
            self.person = dataclasses.replace(self.person, eye_height=eyes)
        if eyes < UPRIGHT * self.person.eye_height:
            self._say = SAYINGS["upright"]
            return
        if self.stance is None:
            self.stance = self.room.figure.stance(self.person, seen.pos[0], seen.quat[0])
        pos, quat = self.stance.to_scene(*hands(self.person, seen.pos, seen.quat))
        if self._blocked(pos[0]):
            self._say = SAYINGS["aside"]
            return
        self._stand(pos, quat, seen, now)

    def _stand(self, pos: np.ndarray, quat: np.ndarray, seen: Seen, now: float) -> None:
        self.points = pos, quat = self.glide.start(pos, quat, seen.age)
        objects = self.pose.qpos[self.room.world.layout.object_qpos]
        self.pose = self.room.follower.reset(pos, quat, objects)
        self.recorder.add(RESET, pos, quat, self.pose)
        self._raw, self.incoming.recentred = seen, False
        self._enter("live", now)

    def _blocked(self, at: np.ndarray) -> bool:
        """Whether a piece stands where the body is to stand: its middle is within 0.3 m of one of the piece's geoms."""
        geoms, xpos = self.room.world.layout.geoms, self.pose.xpos
        if len(geoms.body) == 0:
            return False
        # the geom's circle on the floor, from its box; a wide seat is a wide circle
        centre = xpos[geoms.body][:, :2] + geoms.pos[:, :2]
        reach = np.minimum(np.linalg.norm(geoms.size[:, :2], axis=1), 0.3)
        return bool((np.linalg.norm(centre - at[:2], axis=1) < reach).any())

    def _live(self, seen: Seen, now: float) -> None:
        """The body follows."""
        assert self.stance is not None and self._raw is not None
        leapt = float(np.linalg.norm(seen.pos[0] - self._raw.pos[0])) > LEAP
        if self.incoming.recentred or (leapt and _rigid(seen, self._raw)):
            self._reanchor(seen)
        elif leapt:
            self._hold_odd(now)
            return
        self._raw, self._odd = seen, 0
        target = self.stance.to_scene(*hands(self.person, seen.pos, seen.quat))
        self._follow(*self.glide.step(*target, seen.age), now)

    def _hold_odd(self, now: float) -> None:
        """The headset alone leapt, which no head does: stay until it is back, for a while."""
        self._odd += 1
        if self._odd * self.dt > HOLD:
            self.note = "the headset leapt"
            self._enter("still", now)
        else:
            self._follow(*self.points, now)

    def _follow(self, pos: np.ndarray, quat: np.ndarray, now: float) -> None:
        """One step of the body; where it is lost for too long, it has fallen."""
        self.points = pos, quat
        self.pose = self.room.follower.step(pos, quat)
        self.recorder.add(STEP, pos, quat, self.pose)
        lost = not math.isfinite(self.pose.error) or self.pose.error > LOST
        self._bad = self._bad + 1 if lost else 0
        if self._bad * self.dt > PATIENCE or math.isinf(self.pose.error):
            self.count.falls += 1
            self._enter("fallen", now)

    def _reanchor(self, seen: Seen) -> None:
        """The device has moved its origin: the user stays where they are in the scene, and faces as they did."""
        at, turned = self.points[0][0], self.points[1][0]
        self.stance = self.room.figure.stance(self.person, seen.pos[0], seen.quat[0], at[:2], float(yaw_of(turned)))
        self.count.recentred += 1
        self.incoming.recentred = False
        self.note = "the device moved its origin; you stay where you are"

    def _fallen(self, seen: Seen, now: float) -> None:
        if now - self._since < FADE:
            return
        self._enter("still", now)

    def _come_back(self, seen: Seen, now: float) -> None:
        """After an absence: go on from where the body is if the user is near, else stand anew."""
        near = self.stance is not None and self._raw is not None
        near = near and float(np.linalg.norm(seen.pos[0] - self._raw.pos[0])) < LEAP  # type: ignore[union-attr]
        self._enter("live" if near else "still", now)
        if near:
            self.glide.gliding[:] = True

    def _calibrating(self, seen: Seen, now: float) -> None:
        left = COUNTDOWN - (now - self._since)
        self._say = f"{SAYINGS['calibrating']}: {math.ceil(max(left, 0))}"
        if left > 0:
            return
        frames = list(self._watch)[-round(1.0 / self.dt) :]
        try:
            if seen.age.max() > 0.5:
                raise CalibrationError("a controller is not seen: hold both, in sight of the headset")
            pos, quat = (np.array(x) for x in zip(*frames, strict=True))
            self.person = measure(self._name, self.room.figure, pos, quat, self.person.floor)
            save_person(self.people, self.person)
            self.measured, self.stance = True, None
            eyes, arms = self.person.eye_height, self.person.arms
            self.note = f"measured {self.person.name}: eyes at {eyes:.2f} m, arms {arms:.2f} of the body's"
        except (CalibrationError, OSError) as error:
            self.note = str(error)
        self._enter("still", now)

    def command(self, words: dict[str, Any], now: float) -> None:
        """What the page's buttons ask for. Raises ValueError for what is none of them."""
        do = words.get("do")
        if do == "calibrate":
            self._name = check_name(words.get("name", "guest"))
            if self.phase == "waiting":
                raise ValueError("no headset is seen yet")
            self._enter("calibrating", now)
        elif do == "person":
            self.person = load_person(self.people, check_name(words.get("name")))
            self.measured, self.stance = True, None
            self._restart(now)
        elif do == "floor":
            self._floor(now)
        elif do == "recentre":
            self.stance = None
            self._restart(now)
        elif do == "reset":
            self._restart(now)
        elif do == "pause":
            self._enter("paused", now) if self.phase != "paused" else self._restart(now)
        elif do == "move":
            numbers = [float(words[k]) for k in ("x", "y", "yaw")]
            self.room = moved(self.room, str(words.get("piece")), *numbers)
            self.recorder.room = self.room
        else:
            raise ValueError(f"no such command: {str(do)[:40]!r}")

    def _restart(self, now: float) -> None:
        self._enter("waiting" if self.incoming.arrival is None else "still", now)

    def _floor(self, now: float) -> None:
        """The lower controller lies on the floor: that is where it is from now on."""
        seen = self.incoming.at(now)
        there = seen.age[1:] < 0.5
        if not there.any():
            raise ValueError("no controller is seen: lay one on the floor")
        floor = float(seen.pos[1:][there, 2].min()) - 0.03  # [m] half of a controller's thickness
        self.person = dataclasses.replace(self.person, floor=round(floor, 4))
        self.stance, self.note = None, f"the floor is {floor:+.2f} m from where the device has it"
        self._restart(now)

    def start_recording(self) -> None:
        """From this tick on."""
        self.recorder.start()

    def stop_recording(self) -> Recorded:
        """The session so far. Raises ValueError where there is nothing."""
        return self.recorder.stop()

    def _show(self, now: float) -> Tick:
        pose, (pos, quat) = self.pose, self.points
        flags = {
            "paused": self.phase != "live", "held": bool(self.glide.held.any()),
            "gliding": bool(self.glide.gliding.any()), "fallen": self.phase == "fallen",
            "recording": self.recorder.since is not None,
        }  # fmt: skip
        touching = (pose.force > TOUCHED).any(axis=1)
        return Tick(
            self._number, now, np.concatenate([pose.xpos, pos]), np.concatenate([pose.xquat, quat]),
            float(min(pose.error, 9.99)), sum(FLAGS[k] for k, on in flags.items() if on),
            int(sum(1 << int(i) for i in np.flatnonzero(touching))),
        )  # fmt: skip

    def status(self) -> dict[str, Any]:
        """What the page says in words and numbers."""
        stance = self.stance or Stance()
        return {
            "phase": self.phase, "say": self._say, "note": self.note, **dataclasses.asdict(self.count),
            "left_out": self.incoming.left_out,
            "held": [n for n, on in zip(POINTS, self.glide.held, strict=True) if on and self.phase == "live"],
            "person": self.person.name if self.measured else "", "recording": round(self.recorder.seconds, 1),
            "latency_ms": round(1000 * (self.room.follower.latency + self.incoming.clock.margin)),
            "stance": {"scale": stance.scale, "yaw": stance.yaw, "place": stance.place, "floor": stance.floor},
        }  # fmt: skip


def _rigid(now: Seen, before: Seen) -> bool:
    """Whether the hands that are seen moved with the headset, as all do where a device moves its origin."""
    reach = [np.linalg.norm(s.pos[1:] - s.pos[0], axis=1) for s in (now, before)]
    known = (now.age[1:] == 0) & (before.age[1:] == 0)
    return bool((np.abs(reach[0] - reach[1])[known] < RIGID).all())
