"""Small made files with the faults that people report: what each of them has to come to. See the tests of each kind."""

from pathlib import Path

import numpy as np
import pytest

from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.formats.recording import Recording, RecordingError
from qes_jax.motion.sensors import make_track, read_device
from qes_jax.motion.subject import feet


@pytest.fixture(scope="module")
def odd(recordings: Path) -> Path:
    folder = recordings / "odd_inputs"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    return folder


@pytest.fixture(scope="module")
def sound(odd: Path) -> Recording:
    return read_recording(odd / "ok.bvh")[1]


def test_the_sound_ones_are_left_alone(odd: Path, sound: Recording) -> None:
    assert sound.notes == () and read_device(odd / "headset_ok.csv").notes == ()


@pytest.mark.parametrize("name", ["floor_at_minus_30cm.bvh", "floor_at_plus_150cm.bvh"])
def test_floors(odd: Path, sound: Recording, name: str) -> None:
    recording = read_recording(odd / name)[1]
    assert "the floor lies" in recording.notes[0] and abs(feet(recording)[1].min()) < 0.03
    assert np.abs(recording.points - sound.points).max() < 0.03


@pytest.mark.parametrize("name", ["frame_time_sci.bvh", "gltf_centimetres.gltf"])
def test_rates_and_units(odd: Path, sound: Recording, name: str) -> None:
    recording = read_recording(odd / name)[1]
    assert recording.fps == 30.0
    np.testing.assert_allclose(recording.point("head"), sound.point("head"), atol=1e-3)


def test_utf_16_and_a_root_without_positions(odd: Path, sound: Recording) -> None:
    assert read_recording(odd / "utf16.bvh")[1].fps == 30.0
    recording = read_recording(odd / "root_without_positions.bvh")[1]
    assert "no positions" in recording.notes[0] and feet(recording)[1].min() > -0.02
    assert np.abs(recording.point("head") - sound.point("head"))[:, 2].max() < 0.05


@pytest.mark.parametrize(
    ("name", "message"), [("no_trans.npz", "field trans is missing"), ("poses_208.npz", "208 col")]
)
def test_fields(odd: Path, name: str, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        read_recording(odd / name)


@pytest.mark.parametrize(
    ("name", "said", "seconds"),
    [("jump", "as no person does", 1.97), ("recentre", "recentred at 2.00 s", 3.97), ("frozen_left", "asleep", 3.97),
     ("identity_hands", "orientation never changes", 3.97), ("ms", "milliseconds", 3.97), ("clock_ahead", "cut", 1.97)],
)  # fmt: skip
def test_sessions(odd: Path, name: str, said: str, seconds: float) -> None:
    recording = read_device(odd / f"headset_{name}.csv")
    assert said in recording.notes[0] and recording.duration == pytest.approx(seconds, abs=0.01)
    track = make_track(recording)
    speed = np.linalg.norm(np.diff(track.pos, axis=0), axis=-1) * track.fps
    assert speed[(track.valid[1:] & track.valid[:-1])].max() < 1.0
