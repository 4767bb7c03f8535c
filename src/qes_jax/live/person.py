"""A user's measures, taken in three seconds of the A-pose, and the way from the device's space to the scene.

The character keeps its size: the user's space is scaled so that the eyes are at the character's height.
"""

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from qes_jax.files import replacing
from qes_jax.model.world import World
from qes_jax.motion.build import kinematics
from qes_jax.motion.frames import rotation, turn_points, turn_quats, yaw_of

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
EYES = (0.9, 2.3)  # [m] heights of standing eyes
ARMS = (0.8, 1.25)  # of the character's reach
TURN = np.radians(75.0)  # a grip that is turned more is not held as we say
OFFSET = 0.12  # [m] from a controller's origin to the middle of the fist
STILL = 0.05  # [m] how far a point moves while a person stands still
SHOULDERS = 0.22  # of the eyes' height that the shoulders are below them, our choice after the character's body


class CalibrationError(ValueError):
    """A pose that no measure can be taken from; the text tells the user what to do."""


@dataclass(frozen=True)
class Person:
    """What is kept of a user. Two hands, left first."""

    name: str = "guest"
    eye_height: float = 1.64  # [m] standing, above the floor
    floor: float = 0.0  # [m] its height in the device's space
    arms: float = 1.0  # reach from the shoulders, of that of the character on the user's scale
    turn: tuple = ((1.0, 0.0, 0.0, 0.0),) * 2  # wxyz of the hand in the controller's frame
    offset: tuple = ((0.0, 0.0, 0.0),) * 2  # [m] of the fist's middle in the hand's frame


@dataclass(frozen=True)
class Stance:
    """Where the user's space lies in the scene: turned by `yaw` [rad], scaled, its origin moved to `place` [m]."""

    scale: float = 1.0
    yaw: float = 0.0
    place: tuple[float, float] = (0.0, 0.0)
    floor: float = 0.0

    def to_scene(self, pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (N, 3), (N, 4) of the device's space in the scene."""
        at = turn_points(pos - [0.0, 0.0, self.floor], self.yaw) * self.scale + [*self.place, 0.0]
        return at, turn_quats(quat, self.yaw)


class Figure:
    """The character's own measures at the origin: its three sensors in the A-pose, and at rest, the arms hanging."""

    def __init__(self, world: World) -> None:
        hanging = world.layout.home_qpos.copy()
        hanging[world.layout.joint_qpos] = 0.0
        _, _, pos, quat = kinematics(world, np.stack([world.layout.home_qpos, hanging]))
        (self.pos, self.rest_pos), (self.quat, self.rest_quat) = pos.astype(float), quat.astype(float)
        self.eye_height = float(self.pos[0, 2])

    def stance(self, person: Person, pos: np.ndarray, quat: np.ndarray, at=(0.0, 0.0), yaw: float = 0.0) -> Stance:
        """The stance that puts a headset at pos (3,), quat (4,) above `at` in the scene, looking along `yaw`."""
        scale = self.eye_height / person.eye_height
        turn = yaw - float(yaw_of(quat))
        moved = turn_points(np.asarray(pos), turn) * scale
        return Stance(scale, turn, (float(at[0] - moved[0]), float(at[1] - moved[1])), person.floor)


def hands(person: Person, pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From headset and controllers (3, 3), (3, 4) to headset and the hands of a body with the character's arms."""
    turned = np.concatenate([quat[:1], [_times(q, t) for q, t in zip(quat[1:], person.turn, strict=True)]])
    fists = pos[1:] + rotation(turned[1:]).apply(np.asarray(person.offset))
    chest = pos[0] - [0.0, 0.0, SHOULDERS * person.eye_height]
    return np.concatenate([pos[:1], chest + (fists - chest) / person.arms]), turned


def measure(name: str, figure: Figure, pos: np.ndarray, quat: np.ndarray, floor: float = 0.0) -> Person:
    """A person's measures from frames (T, 3, 3), (T, 3, 4) of standing still in the A-pose. Raises CalibrationError.

    What of a controller's place lies across the arm is the grip's offset, what lies along it is the arm's length.
    """
    if np.ptp(pos, axis=0).max() > STILL:
        raise CalibrationError("you moved: stand still, arms a little out, and try again")
    place = np.median(pos, axis=0)
    eyes = float(place[0, 2]) - floor
    if not EYES[0] <= eyes <= EYES[1]:
        raise CalibrationError(f"your eyes are {eyes:.2f} m above the floor: stand up straight, or set the floor anew")
    person = Person(check_name(name), round(eyes, 4), round(floor, 4))
    yaw = float(yaw_of(quat[-1, 0]))
    at, turned = turn_points(place - [*place[0, :2], floor], -yaw), turn_quats(quat[-1], -yaw)
    grip = tuple(_grip(turned[i], figure.quat[i]) for i in (1, 2))
    unit = eyes / figure.eye_height
    chest = np.array([0.0, 0.0, eyes * (1 - SHOULDERS)])
    reach = [(at[i] - chest) for i in (1, 2)]
    own = [unit * (figure.pos[i] - [*figure.pos[0, :2], 0.0]) - chest for i in (1, 2)]
    arms = float(np.mean([np.linalg.norm(r) / np.linalg.norm(o) for r, o in zip(reach, own, strict=True)]))
    if not ARMS[0] <= arms <= ARMS[1]:
        raise CalibrationError("your hands are not where they should be: arms straight, a little out from the body")
    offset = tuple(_offset(r, o, figure.quat[i + 1]) for i, (r, o) in enumerate(zip(reach, own, strict=True)))
    return replace(person, arms=round(arms, 4), turn=grip, offset=offset)


def _grip(controller: np.ndarray, hand: np.ndarray) -> tuple[float, ...]:
    turn = rotation(controller).inv() * rotation(hand)
    if turn.magnitude()[0] > TURN:
        raise CalibrationError("a controller is turned: let the arms hang a little out, palms to the thighs")
    return tuple(turn.as_quat(scalar_first=True)[0].round(5).tolist())


def _offset(reach: np.ndarray, own: np.ndarray, hand: np.ndarray) -> tuple[float, ...]:
    """In the hand's frame: from where the controller is to the arm's line, of which the length is left alone."""
    line = own / np.linalg.norm(own)
    across = line * (reach @ line) - reach
    across *= min(1.0, OFFSET / max(float(np.linalg.norm(across)), 1e-9))
    return tuple(rotation(hand).inv().apply(across)[0].round(4).tolist())


def _times(a: np.ndarray, b) -> np.ndarray:
    return (rotation(a) * rotation(np.asarray(b))).as_quat(scalar_first=True)[0]


def check_name(name: object) -> str:
    """The name, if a file may be called so. Raises ValueError."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"name {name!r}: expected up to 32 of a-z, 0-9, - and _")
    return name


def save_person(folder: Path, person: Person) -> None:
    """Keep a person's measures under their name."""
    with replacing(folder / f"{check_name(person.name)}.json") as aside:
        aside.write_text(json.dumps(asdict(person), indent=1) + "\n", encoding="utf-8")


def load_person(folder: Path, name: str) -> Person:
    """Read them back. Raises ValueError that names file and field, FileNotFoundError where there are none."""
    path = folder / f"{check_name(name)}.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        person = Person(**{k: _frozen(v) for k, v in fields.items()})
        numbers = [np.asarray(getattr(person, k), float) for k in ("eye_height", "floor", "arms", "turn", "offset")]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path}: no measures of a person: {error}") from None
    shapes = [(), (), (), (2, 4), (2, 3)]
    if not all(n.shape == s and np.isfinite(n).all() for n, s in zip(numbers, shapes, strict=True)):
        raise ValueError(f"{path}: a field has the wrong number of numbers, or one that is not finite")
    if not (EYES[0] <= person.eye_height <= EYES[1] and ARMS[0] <= person.arms <= ARMS[1]):
        raise ValueError(f"{path}: eye_height {person.eye_height} m or arms {person.arms} is out of range")
    if np.abs(np.linalg.norm(numbers[3], axis=1) - 1).max() > 0.01:
        raise ValueError(f"{path}: turn is not of unit length")
    return replace(person, name=name)


def people(folder: Path) -> list[str]:
    """The names that are known."""
    return sorted(p.stem for p in folder.glob("*.json") if NAME.fullmatch(p.stem))


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
