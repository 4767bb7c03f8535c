"""From device streams to a track: interpolation against scipy, gaps, scale, grip, the clip made of it."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from qes_jax.model.scene import SCENES
from qes_jax.motion import sensors
from qes_jax.motion.clip import load_clip, save_clip
from qes_jax.motion.formats.device import DeviceRecording, Stream
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.sensors import (
    Grip,
    character_eye_height,
    hold,
    load_track,
    make_track,
    read_device,
    resample,
    save_track,
    sensor_clip,
)


def stream(time, pos, turn: Rotation | None = None) -> Stream:
    turn = turn or Rotation.identity(len(time))
    return Stream(np.asarray(time, float), np.asarray(pos, float), turn.as_quat(scalar_first=True), 0, 0)


def session(seconds: float = 3.0, rate: float = 90.0, yaw: float = 0.0, place=(0.0, 0.0)) -> DeviceRecording:
    """Someone with eyes at 1.8 m who walks along `yaw` at 1 m/s, controllers pointing ahead beside the head."""
    t = np.arange(int(seconds * rate) + 1) / rate
    by = Rotation.from_rotvec([0, 0, yaw])
    streams = []
    for y, z in ((0.0, 1.8), (0.3, 1.2), (-0.3, 1.2)):
        pos = by.apply(np.stack([t, np.full(len(t), y), np.full(len(t), z)], axis=1)) + np.array([*place, 0])
        streams.append(stream(t, pos, Rotation.concatenate([by] * len(t))))
    return DeviceRecording("walk.csv", "unity", tuple(streams))


def test_resampling_against_scipy():
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.uniform(0.002, 0.03, 60))
    turn = Rotation.from_rotvec(np.cumsum(rng.normal(scale=0.2, size=(60, 3)), axis=0))
    points = rng.normal(size=(60, 3))
    times = np.linspace(time[0], time[-1], 50)
    pos, quat, valid = resample(stream(time, points, turn), times)
    np.testing.assert_allclose(
        pos, np.stack([np.interp(times, time, points[:, c]) for c in range(3)], axis=1), atol=1e-6
    )
    expected = Slerp(time, turn)(times)
    assert (expected.inv() * Rotation.from_quat(quat, scalar_first=True)).magnitude().max() < 1e-6
    assert valid.all()


def test_gaps_up_to_a_quarter_second_are_bridged_and_longer_ones_held():
    time = np.array([0.0, 0.1, 0.3, 1.0, 1.1])
    pos = np.stack([time, 0 * time, 0 * time], axis=1)
    times = np.array([-0.2, 0.0, 0.2, 0.3, 0.5, 0.99, 1.05, 1.1, 1.3])
    got, _, valid = resample(stream(time, pos), times)
    np.testing.assert_allclose(got[:, 0], [0, 0, 0.2, 0.3, 0.3, 0.3, 1.05, 1.1, 1.1], atol=1e-8)
    assert valid.tolist() == [False, True, True, True, False, False, True, True, False]


def test_a_track_starts_at_the_origin_looking_along_x():
    for yaw, place in ((0.0, (0.0, 0.0)), (2.5, (3.0, -7.0))):
        track = make_track(session(yaw=yaw, place=place), height=1.75)
        scale = character_eye_height(1.75) / 1.8
        t = np.arange(109) / 36
        assert track.pos.shape == (109, 3, 3) and track.valid.all() and track.duration == 3.0
        np.testing.assert_allclose(track.pos[:, 0, 0], scale * t, atol=1e-5)
        np.testing.assert_allclose(
            track.pos[:, :, 1:] / scale, np.tile([[0, 1.8], [0.3, 1.2], [-0.3, 1.2]], (109, 1, 1)), atol=1e-5
        )
        np.testing.assert_allclose(np.abs(track.quat[:, 0, 0]), 1, atol=1e-6)


def test_the_scale_is_that_of_the_standing_eyes():
    crouching = session(10.0)
    crouching.streams[0].pos[:400, 2] = 0.9
    for height in (1.5, 1.9):
        np.testing.assert_allclose(make_track(crouching, height).pos[-1, 0, 2], character_eye_height(height), atol=1e-5)
    assert character_eye_height(1.9) / character_eye_height(1.5) == pytest.approx(1.9 / 1.5)
    np.testing.assert_allclose(
        make_track(crouching, 1.75, eye_height=2.0).pos[-1, 0, 2], 0.9 * character_eye_height(1.75), atol=1e-5
    )


def test_a_cut_is_part_of_the_whole():
    whole, part = make_track(session()), make_track(session(), start=1.0, end=2.0)
    np.testing.assert_allclose(part.pos - part.pos[:1, :1], (whole.pos - whole.pos[36:37, :1])[36:73], atol=1e-5)
    for start, end in ((2.0, 1.0), (0.0, 9.0), (-1.0, 2.0), (float("nan"), 2.0), (1.0, 1.01)):
        with pytest.raises(RecordingError, match=r"walk\.csv"):
            make_track(session(), start=start, end=end)


def test_eyes_near_the_floor_are_refused_unless_their_height_is_stated():
    low = session()
    low.streams[0].pos[:, 2] -= 1.5
    with pytest.raises(RecordingError, match=r"walk\.csv: headset pos: .*0\.30 m"):
        make_track(low)
    assert make_track(low, eye_height=1.8).valid.all()


def test_a_hand_holds_a_wand_like_a_stick():
    """A wand that points ahead lies along the forearm: the hand's Z axis goes back along it, X is the thumb's."""
    pos, quat = hold(sensors.GRIPS["unity"], np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]))
    turn = Rotation.from_quat(quat, scalar_first=True)
    np.testing.assert_allclose(turn.apply([[0, 0, 1.0], [1, 0, 0]]), [[-1, 0, 0], [0, 0, 1]], atol=1e-12)
    turned = Rotation.from_euler("z", 90, degrees=True).as_quat(scalar_first=True)[None]
    pos, _ = hold(Grip((0.1, 0.0, 0.0), 0.0), np.ones((1, 3)), turned)
    np.testing.assert_allclose(pos, [[1, 1.1, 1]], atol=1e-12)


@pytest.mark.parametrize("scene", ["flat", "stool"])
def test_a_clip_of_sensors_only(tmp_path, scene):
    track = make_track(session(yaw=1.0), height=1.6)
    clip = sensor_clip(track, SCENES[scene], licence="none")
    save_clip(tmp_path / "a.npz", clip)
    clip = load_clip(tmp_path / "a.npz")
    assert not clip.body_known and clip.height == 1.6 and clip.name == "walk" and not clip.contact.any()
    np.testing.assert_array_equal(clip.sensor_pos, track.pos)
    np.testing.assert_allclose(np.diff(clip.qpos[:, :2], axis=0), np.diff(track.pos[:, 0, :2], axis=0), atol=1e-6)
    np.testing.assert_allclose(
        clip.qpos[0, :2], [-0.085 * 1.6 / 1.75, 0], atol=1e-6
    )  # the eyes are ahead of the pelvis


def test_the_stand_in_turns_with_the_head():
    recording = session()
    turns = Rotation.from_rotvec(np.linspace(0, 3, len(recording.streams[0].time))[:, None] * [0, 0, 1.0])
    head = dataclasses.replace(recording.streams[0], quat=turns.as_quat(scalar_first=True))
    clip = sensor_clip(make_track(dataclasses.replace(recording, streams=(head, *recording.streams[1:]))))
    yaw = 2 * np.arctan2(clip.qpos[:, 6], clip.qpos[:, 3])
    np.testing.assert_allclose(yaw[[0, 36, -1]], [0, 1, 3], atol=1e-3)


def test_a_track_survives_the_disk(tmp_path):
    track = make_track(session())
    save_track(tmp_path / "t.npz", track)
    loaded = load_track(tmp_path / "t.npz")
    assert (loaded.source, loaded.height, loaded.fps) == (track.source, track.height, track.fps)
    for field in ("pos", "quat", "valid"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(track, field))


def test_what_is_no_track_is_refused(tmp_path):
    path = tmp_path / "t.npz"
    with pytest.raises(FileNotFoundError):
        load_track(path)
    path.write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(RecordingError, match=r"t\.npz"):
        load_track(path)
    save_clip(path, sensor_clip(make_track(session())))
    with pytest.raises(RecordingError, match=r"t\.npz: .*track"):
        load_track(path)
    save_track(path, dataclasses.replace(make_track(session()), pos=np.full((109, 3, 3), np.nan, np.float32)))
    with pytest.raises(RecordingError, match=r"t\.npz: pos"):
        load_track(path)


@pytest.mark.parametrize("name", ["aframe_grab_left.json", "aframe_tracked_recording.json", "vivepro2_unity.csv"])
def test_real_recordings_lie_within_a_body(recordings, name):
    """Eyes no higher than on tiptoe, hands within an arm's reach of the head, nothing faster than a person."""
    track = make_track(read_device(recordings / "vr" / name), end=12.0)
    assert track.valid.all() and len(track.pos) == 433
    assert track.pos[:, 0, 2].min() > 0.5 and track.pos[:, 0, 2].max() < 1.75
    assert np.linalg.norm(track.pos[:, 1:] - track.pos[:, :1], axis=-1).max() < 1.05
    assert np.linalg.norm(np.diff(track.pos[:, 0], axis=0), axis=-1).max() * 36 < 3.5


def test_hanging_hands_look_right(recordings):
    """At rest (the long session has it) the hands are where the character's hang, thumbs ahead or inwards."""
    track = make_track(read_device(recordings / "vr" / "vivepro2_unity.csv"))
    low = np.argsort(track.pos[:, 1:, 2].sum(axis=1))[:300]
    low = low[track.pos[low, 0, 2] > 1.6]
    assert len(low) > 100
    for hand, side in ((1, 1), (2, -1)):
        turn = Rotation.from_quat(track.quat[low, hand], scalar_first=True)
        assert np.median(turn.apply([0, 0, 1.0])[:, 2]) > 0.9  # up the forearm is up
        thumb = np.median(turn.apply([1.0, 0, 0]), axis=0)
        assert thumb[0] > 0.3 and thumb[1] * side < 0.3
    assert abs(np.median(track.pos[low, 1:, 2]) - (character_eye_height(1.75) - 0.865)) < 0.05
