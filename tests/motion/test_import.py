"""The import command, from a file to a clip and a report."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from qes_jax.model.world import build_world
from qes_jax.motion.clip import DoubtfulClip, load_clip
from qes_jax.motion.sensors import load_track
from tests.motion import test_points

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
KEYS = {
    "mean_error_cm", "p95_error_cm", "foot_skate_cm", "floor_penetration_cm", "object_penetration_cm", "seconds", "fps",
}  # fmt: skip


def run(*args: object, script: str = "import_motion.py") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, EXPERIMENTS / script, *map(str, args)], capture_output=True, text=True)


@pytest.mark.slow
def test_a_walk_becomes_a_clip(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "fix.txt").write_text("frames 0-5: head floor on\n")
    walk = recordings / "deepmimic" / "humanoid3d_walk.txt"
    out, report = tmp_path / "walk.npz", tmp_path / "walk.json"
    done = run(
        walk,
        "--out",
        out,
        "--json",
        report,
        "--repeat",
        2,
        "--start",
        0.5,
        "--end",
        2,
        "--corrections",
        tmp_path / "fix.txt",
    )
    assert done.returncode == 0, done.stderr
    clip, result = load_clip(out), json.loads(report.read_text())
    head = build_world().layout.links.index("head")
    assert set(result) >= KEYS and (result["format"], result["fps"], result["seconds"]) == ("DeepMimic", 30, 1.5)
    assert clip.n_frames == 55 and clip.licence == "MIT" and clip.source == walk.name
    assert clip.contact[:6, head, 0].all() and not clip.contact[6:, head].any()
    assert result["mean_error_cm"] < 2 and result["foot_skate_cm"] < 0.5 and result["floor_penetration_cm"] < 1


def test_a_body_that_cannot_be_followed_is_told_of(tmp_path: Path) -> None:
    swaps = {"wrist": "ankle", "ankle": "wrist"}
    crossed = ["_".join(swaps.get(word, word) for word in role.split("_")) for role in test_points.ROLES]
    np.savez(tmp_path / "walk.npz", points=test_points.motion(), names=np.array(crossed), fps=30.0)
    done = run(tmp_path / "walk.npz", "--up", "z", "--out", tmp_path / "clip.npz")
    assert done.returncode == 3 and "IN DOUBT: the character is far from the joints" in done.stdout
    with pytest.warns(DoubtfulClip, match="in doubt since its import: the character is far from the joints"):
        assert load_clip(tmp_path / "clip.npz").doubt


def test_a_broken_file_ends_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"Loop": "wrap", "Frames": [[1, 2')
    done = run(tmp_path / "a.txt", "--out", tmp_path / "a.npz")
    assert done.returncode == 2 and "a.txt: not readable JSON" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "a.npz").exists()


NAMELESS = """HIERARCHY
ROOT a
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT lHand
  {
    OFFSET 0 1 0
    CHANNELS 0
    End Site
    {
      OFFSET 0 0.5 0
    }
  }
}
MOTION
Frames: 4
Frame Time: 0.04
"""


def test_an_unknown_skeleton_leaves_a_map_file_to_fill(tmp_path: Path) -> None:
    (tmp_path / "a.bvh").write_text(NAMELESS + 4 * "0 0 0 0 0 0\n")
    done = run(tmp_path / "a.bvh", "--out", tmp_path / "clip.npz")
    assert done.returncode == 2 and done.stderr.startswith("error: a.bvh: neither names nor shape")
    assert "clip.map.toml and give it as --map" in done.stderr and len(done.stderr.splitlines()) == 2
    assert "#   lHand" in (tmp_path / "clip.map.toml").read_text() and not (tmp_path / "clip.npz").exists()
    done = run(tmp_path / "a.bvh", "--map", tmp_path / "clip.map.toml", "--out", tmp_path / "clip.npz")
    assert done.returncode == 2 and "clip.map.toml: no joint for hips" in done.stderr


@pytest.mark.slow
def test_a_bvh_and_an_amc_become_clips(recordings: Path, tmp_path: Path) -> None:
    for name in ("cmu/131_01.bvh", "cmu_iclone_rig/007_01.bvh", "cmu/02_01.amc"):
        out, report = tmp_path / "a.npz", tmp_path / "a.json"
        done = run(recordings / name, "--end", 1.5, "--out", out, "--json", report)
        assert done.returncode == 0, done.stderr
        result = json.loads(report.read_text())
        assert load_clip(out).n_frames == 55 and "by names" in result["mapped"] and result["up"] == "y"
        assert result["mean_error_cm"] < 2.5 and result["foot_skate_cm"] < 0.5 and result["floor_penetration_cm"] < 1


def test_what_is_said_of_a_headset_recording_is_json_and_nothing_else(recordings: Path, tmp_path: Path) -> None:
    file, out = recordings / "vr" / "aframe_tracked_recording.json", tmp_path / "track.npz"
    done = run(file, "--out", out, script="import_sensors.py")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["track_frames"] == len(load_track(out).pos)


@pytest.mark.parametrize("script", ["import_sensors.py", "make_clips.py"])
def test_a_missing_thing_ends_in_one_line(tmp_path: Path, script: str) -> None:
    done = run("nowhere.json", "--out", tmp_path / "a", script=script)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "nowhere.json" in done.stderr
    assert "Traceback" not in done.stderr
