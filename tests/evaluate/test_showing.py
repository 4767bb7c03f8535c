"""What is shown of an episode: its file, meshes, figures, playback and video."""

import base64
import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import zstandard

from qes_jax.evaluate.episode import ARRAYS, Episode, body_poses, load_episode, parked, save_episode
from qes_jax.evaluate.figures import contact_timeline, error_over_time, learning_curves
from qes_jax.evaluate.meshes import body_mesh
from qes_jax.evaluate.rollout import Tracked
from qes_jax.evaluate.video import AZIMUTHS, open_azimuth
from qes_jax.evaluate.view.page import save_page
from qes_jax.evaluate.view.show import show_episode
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import PARKED, Piece, get_scene
from qes_jax.model.world import build_world
from tests.evaluate.standing import no_likeness

T = 8


@pytest.fixture(scope="module")
def episode() -> Episode:
    """A body that glides along X beside its reference, among two boxes of which only the low one is used."""
    pieces = get_scene("boxes").pieces
    world = build_world(CharacterConfig(), pieces)
    qpos = np.tile(world.layout.home_qpos, (T, 1))
    qpos[:, 0] += 0.1 * np.arange(T)
    sensor_pos = np.tile(np.array([[0.0, 0, 1.6], [0.2, 0.3, 1.0], [0.2, -0.3, 1.0]]), (T, 1, 1))
    force, label = np.zeros((T, 18, 3)), np.zeros((T, 18, 3))
    foot = world.layout.links.index("left_foot")
    force[:4, foot, 0], label[2:6, foot, 0] = 300.0, 1.0
    placement = world.placement()
    placement[1] = PARKED
    return Episode(
        "glide from 0.0 s", 36.0, CharacterConfig(), pieces, True, qpos, placement, qpos + 0.01 * (np.arange(39) == 1),
        sensor_pos + 0.3 * (np.arange(3) == 0), np.tile([1.0, 0, 0, 0], (T, 3, 1)), sensor_pos, force, label,
    )  # fmt: skip


def test_an_episode_comes_back_as_it_was(tmp_path: Path, episode: Episode) -> None:
    save_episode(tmp_path / "e.npz", episode)
    found = load_episode(tmp_path / "e.npz")
    for field in dataclasses.fields(Episode):
        a, b = getattr(found, field.name), getattr(episode, field.name)
        assert np.array_equal(a, b) if field.name in ARRAYS else a == b, field.name
    np.testing.assert_allclose(found.error(), 0.3)
    (tmp_path / "e.npz").write_bytes((tmp_path / "e.npz").read_bytes()[:500])
    with pytest.raises(ValueError, match=r"e\.npz: not a recorded episode"):
        load_episode(tmp_path / "e.npz")


def test_bodies_are_where_mujoco_has_them(episode: Episode) -> None:
    world = episode.world()
    pos, quat = body_poses(world, episode.qpos, episode.placement)
    np.testing.assert_allclose(pos[3, world.layout.link_ids[0]], episode.qpos[3, :3], atol=1e-9)
    np.testing.assert_allclose(pos[0, world.layout.piece_ids], episode.placement[:, :3])
    assert quat.shape == (T, len(world.layout.body_object), 4)
    assert parked(episode.placement).tolist() == [False, True]


def test_meshes_fill_what_mujoco_says_geoms_fill() -> None:
    m = build_world(CharacterConfig(), get_scene("chair").pieces + get_scene("boxes").pieces).plain
    for body in range(1, m.nbody):
        mesh = body_mesh(m, body)
        if mesh is None:
            continue
        corners = []
        for g in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, m.geom_quat[g])
            centre, half = m.geom_aabb[g, :3], m.geom_aabb[g, 3:]
            signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
            corners.append(m.geom_pos[g] + (centre + signs * half) @ turn.reshape(3, 3).T)
        low, high = np.concatenate(corners).min(axis=0), np.concatenate(corners).max(axis=0)
        assert (mesh.bounds[0] >= low - 1e-6).all(), m.body(body).name  # the box of a turned capsule is larger than it
        assert (mesh.bounds[1] <= high + 1e-6).all(), m.body(body).name
        assert np.prod(np.ptp(mesh.bounds, axis=0)) > 0.4 * np.prod(high - low), m.body(body).name


def test_learning_curves_are_means_over_seeds_where_all_have_gone() -> None:
    seeds = [[{"samples": 1e6 * i, "x": base * i} for i in range(1, n)] for base, n in ((1.0, 5), (3.0, 4))]
    seeds[0].insert(1, {"samples": 1.5e6})  # a line without the metric
    (ax,) = learning_curves({"full": seeds, "other": seeds[:1]}, "x", "tracked [s]").axes
    mean, alone = ax.get_lines()
    np.testing.assert_allclose(mean.get_xydata(), [[1, 2], [2, 4], [3, 6]])
    np.testing.assert_allclose(alone.get_xydata(), [[i, i] for i in range(1, 5)])
    (band,) = ax.collections
    high = band.get_paths()[0].vertices[:, 1].max()
    assert high == pytest.approx(6 + 12.706 * np.std([3, 9], ddof=1) / np.sqrt(2), rel=1e-3)
    with pytest.raises(ValueError, match="'y'"):
        learning_curves({"full": seeds}, "y", "")


def test_errors_over_time_leave_failed_episodes_out() -> None:
    error = np.tile([0.1, 0.2, 0.3, 0.4], (6, 1))
    error[2:, 3] = 0.9
    tracked = Tracked(*[error] * 6, valid=np.ones(error.shape, bool), likeness=no_likeness(error))
    upper, lower = error_over_time(tracked, 2.0).axes
    np.testing.assert_allclose(upper.get_lines()[0].get_ydata(), [25, 25, 20, 20, 20, 20])
    np.testing.assert_allclose(lower.get_lines()[0].get_ydata(), [100, 100, 75, 75, 75, 75])
    assert lower.get_xlabel().endswith("[s]")
    assert upper.get_ylabel().endswith("[cm]")


def test_a_contact_timeline_shows_the_pairs_that_meet_and_when(episode: Episode) -> None:
    (ax,) = contact_timeline(episode).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["left foot – floor"]
    times = [[36 * path.vertices[:, 0] for path in bars.get_paths()] for bars in ax.collections]
    both, simulated, labelled = ([(round(x.min()), round(x.max())) for x in bars] for bars in times)
    assert (both, simulated, labelled) == ([(2, 4)], [(0, 2)], [(4, 6)])


def test_a_playback_holds_the_viewer_and_every_body_that_is_used(tmp_path: Path, episode: Episode) -> None:
    save_page(tmp_path / "p.html", [show_episode(episode)], every=2)
    html = (tmp_path / "p.html").read_text()
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?https?:", html)  # nothing is loaded from elsewhere
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', html).group(1))
    scene = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
    for name in (b"/simulated/head", b"/reference/head", b"/room/low", b"/headset and controllers/headset", b"/floor"):
        assert name in scene, name
    assert b"/room/high" not in scene  # it is parked
    assert not list(tmp_path.glob("*.tmp"))


def test_a_stand_in_body_is_no_ghost(tmp_path: Path, episode: Episode) -> None:
    save_page(tmp_path / "p.html", [show_episode(dataclasses.replace(episode, body_known=False))], every=4)
    data = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', (tmp_path / "p.html").read_text()).group(1)
    scene = zstandard.ZstdDecompressor().decompressobj().decompress(base64.b64decode(data)[8:])
    assert b"/simulated/head" in scene
    assert b"/reference" not in scene


def test_a_camera_stands_where_furniture_hides_nothing(episode: Episode) -> None:
    wall = (Piece("wall", "box", (1.5, 1.5, 1.8)),)
    before_the_camera = np.array([[1.3, -1.5, 0.0, 1.0, 0.0, 0.0, 0.0]])
    hidden = dataclasses.replace(episode, pieces=wall, placement=before_the_camera)
    away = dataclasses.replace(hidden, placement=before_the_camera * 20.0)
    assert open_azimuth(away, range(T), 3.0) == AZIMUTHS[0]
    assert open_azimuth(hidden, range(T), 3.0) == AZIMUTHS[1]


@pytest.mark.slow
def test_a_video_has_half_the_frames(tmp_path: Path, episode: Episode) -> None:
    import mediapy

    save_episode(tmp_path / "e.npz", episode)
    script = Path(__file__).resolve().parents[2] / "experiments" / "render.py"
    for gl in ("egl", "osmesa"):
        command = [sys.executable, str(script), str(tmp_path / "e.npz"), str(tmp_path / "v.mp4")]
        done = subprocess.run(command, env={**os.environ, "MUJOCO_GL": gl}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    else:
        pytest.skip("no OpenGL here")
    video = mediapy.read_video(tmp_path / "v.mp4")
    assert video.shape == (T // 2, 480, 640, 3)
    assert np.ptp(video[0]) > 100
    assert np.abs(video[0].astype(int) - video[-1]).mean() > 0.5  # something moves
