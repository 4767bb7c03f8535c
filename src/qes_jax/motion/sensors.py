"""A headset and two controllers over time, at the control rate and on the scale of a character."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.model.character import HEIGHT, CharacterConfig
from qes_jax.model.scene import SCENES, Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import FPS, Clip, validate_clip
from qes_jax.motion.formats.aframe import read_aframe
from qes_jax.motion.formats.device import HOLD, DeviceRecording, Stream
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.vive_csv import read_vive_csv
from qes_jax.motion.frames import rotation, slerp, turn_points, turn_quats, yaw_of
from qes_jax.motion.mend import mend

READERS: dict[str, Callable[[str | Path], DeviceRecording]] = {".json": read_aframe, ".csv": read_vive_csv}
VERSION = 1


@dataclass(frozen=True)
class Grip:
    """How a fist holds a kind of controller: our hand link's pose in the controller's frame (X ahead, Z up).

    `offset` [m] to the middle of the fist, `pitch` [rad] of the hand about the Y axis.
    """

    offset: tuple[float, float, float]
    pitch: float


# Our choice. Held like a stick, a wand lies along the forearm, its upper side where the thumb is: our hand's X axis
# is the thumb's, its Z axis goes up the forearm, so a wand in the forearm's direction is a quarter turn. The angles
# are those at which the character's arms, fitted to frames of our recordings, come closest to the controllers'
# orientations (5 degrees on average, against 30 to 40 without any turn), and where it hangs its arms its thumbs look
# ahead and inwards, as people's do. Offsets: where a person hangs the arms the Unity controllers' origins lie, on the
# character's scale, within 5 cm of the character's fists, so none.
GRIPS = {"unity": Grip((0.0, 0.0, 0.0), -np.pi / 2), "aframe": Grip((0.0, 0.0, 0.0), np.radians(-70.0))}


@dataclass(frozen=True)
class SensorTrack:
    """T frames of headset, left and right controller in a character's world, first above its origin, facing X."""

    source: str
    height: float  # [m] of the character that it is scaled to
    fps: float  # [Hz]
    pos: np.ndarray  # (T, 3, 3) float32 [m] of our three sensor sites
    quat: np.ndarray  # (T, 3, 4) float32, axes of the links that carry them
    valid: np.ndarray  # (T, 3) bool, False where a gap was bridged by the last pose known

    @property
    def duration(self) -> float:
        """Length [s]."""
        return (len(self.pos) - 1) / self.fps


def read_device(path: str | Path, part: int | None = None) -> DeviceRecording:
    """Read a recording by its ending (.json: A-Frame, .csv: Unity) and mend it, see `mend`; `part` of one that is cut.

    Raises RecordingError, or FileNotFoundError.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise RecordingError(f"{path}: no known kind of headset recording, expected one of {sorted(READERS)}")
    return mend(reader(path), part)


def make_track(
    recording: DeviceRecording, height: float = HEIGHT, start: float = 0.0, end: float | None = None,
    eye_height: float | None = None, fps: float = FPS,
) -> SensorTrack:  # fmt: skip
    """Resample a recording from `start` to `end` [s] and scale it to a character of `height` [m].

    The scale takes the person's eye height standing, `eye_height` [m] or as the recording has it, to the character's;
    the floor is at height zero in both. Positions are interpolated linearly, rotations spherically, over gaps up to
    HOLD; over a longer one the last pose is held, marked invalid, and the recording is rejoined where it goes on.
    """
    times = _times(recording, start, end, fps)
    found = [resample(s, times) for s in recording.streams]
    pos, quat, valid = (np.stack(column, axis=1) for column in zip(*found, strict=True))
    pos[:, 1:], quat[:, 1:] = hold(GRIPS[recording.kind], pos[:, 1:], quat[:, 1:])
    pos *= character_eye_height(height) / _checked_eye_height(recording, eye_height)
    first = int(np.argmax(valid[:, 0]))
    yaw, place = float(yaw_of(quat[first, 0])), pos[first, 0] * [1.0, 1.0, 0.0]
    pos, quat = turn_points(pos - place, -yaw), turn_quats(quat, -yaw)
    return SensorTrack(recording.source, height, fps, pos.astype(np.float32), quat.astype(np.float32), valid)


def _times(recording: DeviceRecording, start: float, end: float | None, fps: float) -> np.ndarray:
    """Times of the frames on the recording's clock; `start` and `end` count from the headset's first sample."""
    end = recording.duration if end is None else end
    if not 0 <= start < end <= recording.duration + 1e-6:
        raise RecordingError(f"{recording.source}: cannot cut {start} to {end} s out of {recording.duration:.2f} s")
    frames = int((end - start) * fps + 1e-6) + 1
    if frames < 2:
        raise RecordingError(f"{recording.source}: {start} to {end} s is shorter than two frames at {fps} Hz")
    return recording.streams[0].time[0] + start + np.arange(frames) / fps


def resample(stream: Stream, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position (T, 3), quaternion (T, 4) and validity (T,) of a stream at `times` (T,) [s]."""
    last = len(stream.time) - 1
    before = np.clip(np.searchsorted(stream.time, times + 1e-9, side="right") - 1, 0, last)
    after = np.minimum(before + 1, last)
    gap = stream.time[after] - stream.time[before]
    since = times - stream.time[before]
    share = np.where((gap > 0) & (gap <= HOLD), since / np.where(gap > 0, gap, 1.0), 0.0).clip(0, 1)
    # A frame that falls on a sample is known whatever follows it. Rates are never exact: half a frame at 90 Hz counts
    # as on it.
    valid = (np.abs(since) < 0.005) | ((since >= 0) & (gap > 0) & (gap <= HOLD))
    pos = (1 - share[:, None]) * stream.pos[before] + share[:, None] * stream.pos[after]
    quat = slerp(stream.quat[before][:, None], stream.quat[after][:, None], share)[:, 0]
    return pos, quat, valid


def hold(grip: Grip, pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From the poses of controllers (..., 3), (..., 4) to those of the hands that hold them."""
    turn = rotation(quat)
    hand = turn * Rotation.from_rotvec([0.0, grip.pitch, 0.0])
    return pos + turn.apply(grip.offset).reshape(pos.shape), hand.as_quat(scalar_first=True).reshape(quat.shape)


def character_eye_height(height: float) -> float:
    """Height of the headset [m] of a standing character."""
    world = build_world(CharacterConfig(height=height))
    return float(kinematics(world, world.layout.home_qpos[None])[2][0, 0, 2])


def _checked_eye_height(recording: DeviceRecording, given: float | None) -> float:
    """Raises RecordingError for an eye height that no standing person has."""
    eye = recording.eye_height() if given is None else given
    if not 1.0 <= eye <= 2.2:
        raise RecordingError(
            f"{recording.source}: headset pos: the eyes stand {eye:.2f} m above zero height, expected 1.0 to 2.2 m; "
            "if nobody stands in it, state the person's eye height"
        )
    return eye


def scale_track(track: SensorTrack, height: float) -> SensorTrack:
    """The track for a character of another height [m]."""
    return replace(track, height=height, pos=(track.pos * (height / track.height)).astype(np.float32))


def sensor_clip(track: SensorTrack, scene: Scene = SCENES["flat"], name: str = "", licence: str = "unknown") -> Clip:
    """A clip of which only the sensors are known, to evaluate a policy on: `body_known` is False.

    Its body is a stand-in for resets and for the termination's frame: the A-pose, upright where the headset is and
    turned as it is, whatever the person does. No contact is labelled.
    """
    world = build_world(CharacterConfig(height=track.height), scene.pieces)
    qpos = stand_under(world, track.pos[:, 0], track.quat[:, 0])
    link_pos, link_quat, _, _ = kinematics(world, qpos)
    clip = Clip(
        name or Path(track.source).stem, track.source, licence, track.fps, track.height, scene,
        qpos=qpos.astype(np.float32), qvel=velocities(world.plain, qpos, track.fps).astype(np.float32),
        link_pos=link_pos, link_quat=link_quat,
        contact=np.zeros((len(qpos), len(world.layout.links), len(world.layout.objects)), np.uint8),
        sensor_pos=track.pos, sensor_quat=track.quat, body_known=False,
    )  # fmt: skip
    validate_clip(clip)
    return clip


def stand_under(world: World, head_pos: np.ndarray, head_quat: np.ndarray) -> np.ndarray:
    """(T, nq) the A-pose on the floor, its headset above or below head_pos (T, 3) and turned to its heading."""
    home = world.layout.home_qpos
    ahead = kinematics(world, home[None])[2][0, 0] - home[:3]
    qpos, yaw = np.tile(home, (len(head_pos), 1)), yaw_of(head_quat)
    c, s = np.cos(yaw), np.sin(yaw)
    qpos[:, 0] = head_pos[:, 0] - (c * ahead[0] - s * ahead[1])
    qpos[:, 1] = head_pos[:, 1] - (s * ahead[0] + c * ahead[1])
    qpos[:, 3:7] = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    return qpos


def save_track(path: str | Path, track: SensorTrack) -> None:
    """Write a track as npz. Written aside, then renamed."""
    meta = {"version": VERSION, "source": track.source, "height": track.height, "fps": track.fps}
    save_npz(Path(path), track=np.array(json.dumps(meta)), pos=track.pos, quat=track.quat, valid=track.valid)


def load_track(path: str | Path) -> SensorTrack:
    """Read a track back. Raises RecordingError that names file and field; FileNotFoundError if it is not there."""
    try:
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(str(file["track"]))
            if meta.pop("version") != VERSION:
                raise RecordingError(f"{path}: not a track of version {VERSION}")
            track = SensorTrack(**meta, **{name: entry(file, name) for name in ("pos", "quat", "valid")})
            _check_track(path, track)
    except FileNotFoundError:
        raise
    except (*BROKEN, AttributeError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{path}: not a readable sensor track ({error})") from None
    return track


def _check_track(path: str | Path, track: SensorTrack) -> None:
    frames = len(track.pos)
    for field, shape in (("pos", (frames, 3, 3)), ("quat", (frames, 3, 4)), ("valid", (frames, 3))):
        value = getattr(track, field)
        if value.shape != shape or not np.isfinite(value).all():
            raise RecordingError(f"{path}: {field} has shape {value.shape} or is not finite, expected {shape}")
