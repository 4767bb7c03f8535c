"""Headset sessions with the faults that devices, runtimes and recorders make: each found, said, and mended or cut."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from qes_jax.motion import session
from qes_jax.motion.formats.aframe import read_aframe
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.vive_csv import from_unity, to_ours
from qes_jax.motion.mend import mend
from qes_jax.motion.sensors import make_track, read_device
from tests.motion.test_devices import avatar, write_csv, write_json

FPS, SECONDS = 72.0, 6.0
HEAD, LEFT, RIGHT = (slice(1 + 7 * n, 4 + 7 * n) for n in range(3))
IMPORT = Path(__file__).resolve().parents[2] / "experiments" / "import_sensors.py"


def cells(seed: int = 0) -> np.ndarray:
    """(N, 22) someone who sways, looks about and moves the hands, in Unity's frame."""
    rng, time = np.random.default_rng(seed), np.arange(int(SECONDS * FPS)) / FPS
    table = np.zeros((len(time), 22))
    table[:, 0] = time
    for n, (x, y, z) in enumerate([(0.0, 1.65, 0.0), (-0.3, 1.05, 0.25), (0.3, 1.0, 0.25)]):
        wave = 0.15 * np.sin(np.outer(time, rng.uniform(1, 3, 3)) + rng.uniform(0, 6, 3))
        angles = np.degrees(wave) * [1.0, 3.0, 0.3] + rng.normal(0, 0.02, wave.shape)
        table[:, 1 + 7 * n : 4 + 7 * n] = np.array([x, y, z]) + wave * [0.5, 0.1 if n == 0 else 1.0, 0.5]
        table[:, 4 + 7 * n : 8 + 7 * n] = Rotation.from_euler("yxz", angles[:, [1, 0, 2]], degrees=True).as_quat()
    return table


def recentred(table: np.ndarray, at: int, degrees: float, shift: tuple[float, float, float]) -> np.ndarray:
    """All devices from frame `at` on in a space turned about the upward axis, and shifted."""
    turn, table = Rotation.from_euler("y", degrees, degrees=True), table.copy()
    for n in range(3):
        pos, quat = slice(1 + 7 * n, 4 + 7 * n), slice(4 + 7 * n, 8 + 7 * n)
        table[at:, pos] = turn.apply(table[at:, pos]) + shift
        table[at:, quat] = (turn * Rotation.from_quat(table[at:, quat])).as_quat()
    return table


def read(folder: Path, table: np.ndarray, part: int | None = None):
    return read_device(write_csv(folder / "a.csv", table), part)


def fastest(recording) -> np.ndarray:
    """(3,) [m/s] of frames that are both valid."""
    track = make_track(recording)
    speed = np.linalg.norm(np.diff(track.pos, axis=0), axis=-1) * track.fps
    return (speed * (track.valid[1:] & track.valid[:-1])).max(axis=0)


def test_a_sound_session_is_left_as_it_is(tmp_path):
    table = cells()
    recording = read(tmp_path, table)
    assert recording.notes == () and [len(s.time) for s in recording.streams] == [len(table)] * 3
    np.testing.assert_allclose(recording.streams[1].pos, to_ours(table[:, LEFT]))
    np.testing.assert_allclose(recording.streams[2].quat, from_unity(table[:, 18:22]))


@pytest.mark.parametrize("name", ["aframe_grab_left.json", "aframe_tracked_recording.json", "vivepro2_unity.csv"])
def test_real_sessions_have_none_of_these_faults(recordings, name):
    assert read_device(recordings / "vr" / name).notes == ()


@pytest.mark.parametrize(("frames", "way"), [(1, 0.3), (20, 0.73), (100, 5.0)])
def test_a_leap_of_the_headset_that_ends_is_not_tracked(tmp_path, frames, way):
    table = cells()
    table[200 : 200 + frames, 1] += way
    recording = read(tmp_path, table)
    assert recording.streams[0].lost == frames and "to which no person leaps" in recording.notes[0]
    assert len(recording.notes) == 1 and fastest(recording).max() < 2
    assert make_track(recording).valid[:, 0].all() == (frames < 15)  # a short one is bridged


def test_a_leap_of_the_headset_that_stays_cuts_the_session(tmp_path):
    table = cells()
    table[180:, 1] += 0.73
    longest, first = read(tmp_path, table), read(tmp_path, table, 1)
    assert "headset: leaps 0.7" in longest.notes[0] and "taken is part 2" in longest.notes[1]
    assert [len(s.time) for s in longest.streams] == [432 - 180] * 3 and len(first.streams[1].time) == 180
    assert fastest(longest).max() < 2 and fastest(first).max() < 2
    with pytest.raises(RecordingError, match=r"a\.csv: part 3 is not there, the session has 2"):
        read(tmp_path, table, 3)


@pytest.mark.parametrize(
    ("degrees", "shift"),
    [(90, (1.0, 0, 0)), (-170, (0, 0, -3.0)), (0, (0.4, 0, 0.2)), (45, (0, 0, 0)), (0, (0, 0.3, 0))],
)
def test_recentring_is_undone(tmp_path, degrees, shift):
    plain, recording = read(tmp_path, cells()), read(tmp_path, recentred(cells(), 200, degrees, shift))
    assert len(recording.notes) == 1 and recording.notes[0].startswith("recentred at 2.78 s")
    for mended, true in zip(recording.streams, plain.streams, strict=True):
        assert np.linalg.norm(mended.pos - true.pos, axis=1).max() < 0.05
        apart = 2 * np.arccos(np.abs(np.sum(mended.quat * true.quat, axis=1)).clip(0, 1))
        assert np.degrees(apart).max() < 3


def test_recentring_twice_and_with_one_controller_lost(tmp_path):
    table = recentred(recentred(cells(), 100, 90, (1.0, 0, 0)), 300, -60, (0, 0, 2.0))
    table[80:320, 8:15] = 0.0
    recording = read(tmp_path, table)
    assert [n.startswith("recentred") for n in recording.notes] == [True, True] and fastest(recording).max() < 2


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_device_that_stands_still_to_the_last_bit_is_asleep(tmp_path, n):
    table, device = cells(), slice(1 + 7 * n, 8 + 7 * n)
    table[100:250, device] = table[100, device]
    recording = read(tmp_path, table)
    assert "asleep, not tracked" in recording.notes[0] and recording.streams[n].lost == 149
    valid = make_track(recording).valid[:, n]
    assert 0.6 < valid.mean() < 0.7 and fastest(recording).max() < 2
    short = cells()
    short[100:150, device] = short[100, device]
    assert read(tmp_path, short).notes == ()


def test_a_controller_that_sleeps_throughout_is_nowhere_tracked(tmp_path):
    table = cells()
    table[:, 8:15] = table[0, 8:15]
    recording = read(tmp_path, table)
    assert "left controller: stands still" in recording.notes[0]
    assert make_track(recording).valid.mean(axis=0).round(1).tolist() == [1.0, 0.0, 1.0]


def test_orientations_that_never_change_are_warned_of(tmp_path):
    table = cells()
    table[:, 11:15] = [0, 0, 0, 1]
    table[:, 18:22] = [0.5, 0.5, 0.5, 0.5]
    notes = read(tmp_path, table).notes
    assert [n.split(":")[0] for n in notes] == ["WARNING left controller", "WARNING right controller"]


@pytest.mark.parametrize(("unit", "name"), [(1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")])
def test_the_clocks_unit_is_told_by_the_rate(tmp_path, unit, name):
    table = cells()
    table[:, 0] = unit * (table[:, 0] + 1.7e9 * (unit == 1e3))
    recording = read(tmp_path, table)
    assert recording.duration == pytest.approx(SECONDS - 1 / FPS, abs=1e-3)
    assert recording.notes[0] == f"headset: time is in {name}, by the samples' rate"


def test_an_avatar_in_seconds(tmp_path):
    data = avatar(200)
    for entity in data.values():
        for pose in entity["poses"]:
            pose["timestamp"] /= 1000
    recording = mend(read_aframe(write_json(tmp_path / "a.json", data)))
    assert recording.duration == pytest.approx(199 / 90) and "time is in seconds" in recording.notes[0]


@pytest.mark.parametrize("gap", [4.0, 3600.0])
def test_a_clock_that_leaps_ahead_cuts_the_session(tmp_path, gap):
    table = cells()
    table[250:, 0] += gap
    recording, second = read(tmp_path, table), read(tmp_path, table, 2)
    assert f"{gap:.1f} s without a sample" in recording.notes[0] and "taken is part 1" in recording.notes[1]
    assert recording.duration == pytest.approx(249 / FPS) and second.duration == pytest.approx(181 / FPS)
    assert make_track(second).valid.all()


def test_a_short_pause_does_not_cut(tmp_path):
    table = cells()
    table[250:, 0] += 2.0
    recording = read(tmp_path, table)
    assert recording.notes == () and recording.duration > 7


@pytest.mark.parametrize("off", [-2.0, 0.7, 1.7e9])
def test_another_clock_of_one_device(tmp_path, off):
    data = avatar(400)
    for pose in data["right"]["poses"]:
        pose["timestamp"] += 1000 * off
    recording = read_device(write_json(tmp_path / "a.json", data))
    assert "right controller: its clock is off by" in " ".join(recording.notes)
    np.testing.assert_allclose(recording.streams[2].time, recording.streams[0].time, atol=1e-5)


def test_controllers_that_are_swapped_are_put_right(tmp_path):
    table = cells()
    swapped = np.concatenate([table[:, :8], table[:, 15:22], table[:, 8:15]], axis=1)
    recording = read(tmp_path, swapped)
    assert len(recording.notes) == 1 and "swapped" in recording.notes[0]
    np.testing.assert_allclose(recording.streams[1].pos, to_ours(table[:, LEFT]))
    data, plain = avatar(200), avatar(200)
    data["left"], data["right"] = data["right"], data["left"]
    found = [read_device(write_json(tmp_path / "a.json", d)).streams for d in (data, plain)]
    for mine, true in zip(*found, strict=True):
        np.testing.assert_allclose(mine.quat, true.quat, atol=1e-12)  # the hand models' roll is that of the side


def test_quaternions_with_w_first_are_told_by_the_headset(tmp_path):
    table = cells()
    for n in range(3):
        table[:, 4 + 7 * n : 8 + 7 * n] = table[:, [7 + 7 * n, 4 + 7 * n, 5 + 7 * n, 6 + 7 * n]]
    recording, plain = read(tmp_path, table), read(tmp_path, cells())
    assert "w before x, y, z" in recording.notes[0]
    for mine, true in zip(recording.streams, plain.streams, strict=True):
        np.testing.assert_allclose(mine.quat, true.quat)


@pytest.mark.parametrize("frames", [5, 300])
def test_leaps_of_a_controller_are_not_tracked(tmp_path, frames):
    table = cells()
    table[100 : 100 + frames, 16] += 0.7
    recording = read(tmp_path, table)
    assert "right controller" in recording.notes[0] and "leaps that no arm makes" in recording.notes[0]
    assert fastest(recording).max() < 2.5 and recording.streams[0].lost == 0


def test_a_controller_out_of_reach_is_not_tracked(tmp_path):
    table = cells()
    table[:, 15] += np.interp(table[:, 0], [0, 2, 4, 6], [0, 0, 3, 0])
    recording = read(tmp_path, table)
    assert "farther from the headset than arms reach" in recording.notes[0] and recording.streams[2].lost > 50


def test_a_step_is_judged_alone_as_in_a_whole_session():
    table = cells()
    table[200, 1:4] += 0.5
    time, pos, quat = table[:, 0], to_ours(table[:, HEAD]), from_unity(table[:, 4:8])
    whole = session.leaps(time, pos, quat, session.HEAD)
    alone = [session.leaps(time[i : i + 2], pos[i : i + 2], quat[i : i + 2], session.HEAD)[1] for i in range(431)]
    assert np.flatnonzero(whole).tolist() == [200, 201] and whole[1:].tolist() == alone


QUIET = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(st.data())
def test_whatever_is_done_to_a_session_it_is_sound_or_refused(tmp_path, data):
    """Random stretches shifted, frozen, lost or delayed: streams stay in order, finite, and no faster than a person."""
    table = cells(data.draw(st.integers(0, 3)))
    for _ in range(data.draw(st.integers(1, 4))):
        first, n = data.draw(st.integers(0, 430)), data.draw(st.integers(0, 2))
        rows, device = slice(first, first + data.draw(st.integers(1, 300))), slice(1 + 7 * n, 4 + 7 * n)
        kind = data.draw(st.sampled_from(["shift", "freeze", "lose", "delay", "recentre"]))
        if kind == "shift":
            table[rows, device] += data.draw(st.floats(-3, 3))
        elif kind == "freeze":
            table[rows, device] = table[first, device]
        elif kind == "lose":
            table[rows, device] = np.nan
        elif kind == "delay":
            table[first:, 0] += data.draw(st.floats(0, 100))
        else:
            table = recentred(table, first, data.draw(st.floats(-180, 180)), (data.draw(st.floats(-2, 2)), 0.0, 0.0))
    try:
        recording = read(tmp_path, table)
    except RecordingError as error:
        assert "a.csv" in str(error)
        return
    for stream in recording.streams:
        assert (np.diff(stream.time) > 0).all() and np.isfinite(stream.pos).all()
        np.testing.assert_allclose(np.linalg.norm(stream.quat, axis=1), 1)
    head = recording.streams[0]
    assert not session.leaps(head.time, head.pos, head.quat, session.HEAD).any()
    assert np.diff(head.time).max() <= session.PAUSE


def test_the_command_says_what_was_found(tmp_path):
    table = cells()
    table[180:, 1] += 0.73
    file = write_csv(tmp_path / "a.csv", table)
    command = [sys.executable, IMPORT, file, "--out", tmp_path / "a.npz", "--part", "1"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["seconds"] == pytest.approx(2.49, abs=0.01) and "the session is cut" in said["notes"][0]
