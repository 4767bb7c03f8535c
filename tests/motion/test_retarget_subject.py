"""What is told of a recording before the fit, and the commands around it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import load_clip, save_clip
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.formats.recording import Recording
from qes_jax.motion.holds import floating
from qes_jax.motion.retarget import retarget
from qes_jax.motion.rig import Rig
from qes_jax.motion.subject import moved_on
from qes_jax.motion.touch import Toucher
from tests.motion import test_points
from tests.motion.squat import BOX, known_motion, recorded

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture
def walk(recordings: Path) -> Recording:
    return read_recording(recordings / "deepmimic" / "humanoid3d_walk.txt")[1]


def on_the_spot(walk: Recording) -> tuple[Recording, np.ndarray]:
    way = walk.point("hips")[-1] - walk.point("hips")[0]
    velocity = way * [1.0, 1.0, 0.0] / walk.duration
    time = np.arange(len(walk.points)) / walk.fps
    return replace(walk, points=walk.points - np.outer(time, velocity)[:, None]), velocity


def test_a_walk_on_the_spot_gets_along_again(walk: Recording) -> None:
    still, velocity = on_the_spot(walk)
    moved, speed = moved_on(still)
    assert abs(speed - np.linalg.norm(velocity)) < 0.15 * np.linalg.norm(velocity)
    assert np.linalg.norm(moved.points - walk.points, axis=-1).max() < 0.3


def test_what_gets_along_or_stands_is_left_alone(walk: Recording) -> None:
    world = build_world(CharacterConfig(height=1.68))
    for recording in (walk, recorded(world, known_motion(world))):
        same, speed = moved_on(recording)
        assert speed == 0.0 and same is recording
    assert moved_on(replace(on_the_spot(walk)[0], pieces=(BOX,)))[1] == 0.0


def test_who_hovers_comes_down_but_not_who_jumps() -> None:
    world = build_world(CharacterConfig(height=1.68), (BOX,))
    qpos, rig = known_motion(world, 4.0), Rig(world)
    assert not floating(rig, qpos, 36.0).any()
    jump = qpos.copy()
    jump[40:60, 2] += 0.3
    assert not floating(rig, jump, 36.0).any()
    hover = qpos.copy()
    hover[50:, 2] += 0.3
    down = floating(rig, hover, 36.0)
    assert np.allclose(down[:40], 0.0, atol=1e-3) and np.allclose(down[70:], 0.3, atol=0.015)


def test_a_walk_in_the_air_ends_on_the_floor(walk: Recording) -> None:
    fit = retarget(replace(walk, points=walk.points + np.array([0.0, 0.0, 0.25])), "walk")
    assert np.abs(fit.lift + 0.25).max() < 0.04
    assert Toucher(Rig(fit.world), 0.1)(fit.qpos).dist.min(axis=1).max() < 0.03


def run(script: str, *args: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, EXPERIMENTS / script, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_an_exported_clip_comes_back_among_its_pieces(tmp_path: Path) -> None:
    piece = replace(BOX, pos=(2.0, 0.5, 0.0))
    world = build_world(CharacterConfig(height=1.68), (piece,))
    qpos = known_motion(world, 1.0)
    qpos[:, :2] += piece.pos[:2]
    source, bvh, back = tmp_path / "a.npz", tmp_path / "a.bvh", tmp_path / "b.npz"
    save_clip(source, make_clip("a", qpos, Scene("a", (piece,)), 1.68, "test", "none"))
    run("export_motion.py", source, bvh)
    run("import_motion.py", bvh, "--scene", source, "--out", back, "--json", tmp_path / "b.json")
    report = json.loads((tmp_path / "b.json").read_text())
    assert load_clip(back).scene.pieces == (piece,) and report["object_penetration_cm"] < 1
    assert report["mean_error_cm"] < 1 and abs(load_clip(back).qpos[:, 0] - qpos[:, 0]).max() < 0.03


@pytest.mark.slow
def test_the_table_is_one_command(recordings: Path, tmp_path: Path) -> None:
    page, figures = tmp_path / "page.md", tmp_path / "page.json"
    run("retarget_table.py", recordings, "--only", "humanoid3d_walk", "Sit_Chair", "--out", page, "--json", figures)
    rows = json.loads(figures.read_text())
    assert list(rows) == ["deepmimic/humanoid3d_walk", "kaykit/Sit_Chair_Down"]
    assert all(r["joint_error_cm"] < 3 and r["mean_error_cm"] < 3 and r["foot_skate_cm"] < 1 for r in rows.values())
    assert all(f"| {name} " in page.read_text() for name in rows)


def test_the_table_goes_on_without_a_broken_file(tmp_path: Path) -> None:
    fields = {"points": test_points.motion(), "names": np.array(test_points.ROLES), "fps": 30.0}
    np.savez(tmp_path / "walk.npz", **fields)
    np.save(tmp_path / "walk.npy", np.zeros((4, 3)))
    done = run("retarget_table.py", tmp_path, "--json", tmp_path / "table.out")
    assert f"left out: {tmp_path / 'walk.npy'}: " in done.stderr
    assert list(json.loads((tmp_path / "table.out").read_text())) == ["walk.npz"]
    (tmp_path / "walk.npy").unlink()
    run("retarget_table.py", tmp_path, "--json", tmp_path / "table.out")
    assert list(json.loads((tmp_path / "table.out").read_text())) == ["walk"]
