"""The viewer: what it shows is what was simulated and observed, the page plays it, the server keeps to its port."""

import base64
import dataclasses
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
import viser
import zstandard

from qes_jax.env.config import EnvConfig, SceneObsConfig
from qes_jax.env.observe import see_scene
from qes_jax.env.state import body_of, heading_frame
from qes_jax.evaluate.episode import Episode
from qes_jax.evaluate.view.guard import start
from qes_jax.evaluate.view.live import serve
from qes_jax.evaluate.view.nodes import STEP
from qes_jax.evaluate.view.page import save_page
from qes_jax.evaluate.view.palette import legend
from qes_jax.evaluate.view.panel import Clock
from qes_jax.evaluate.view.show import Show, show_clip, show_episode
from qes_jax.evaluate.view.stage import Arrangement, Stage
from qes_jax.model.character import CharacterConfig
from qes_jax.model.engine import initial_state
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import get_scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import save_clip
from tests.evaluate.standing import standing

T = 9
SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "view.py"


@pytest.fixture(scope="module")
def show() -> Show:
    """A body that glides towards two boxes and touches the lower with its left foot at frames 2 to 4."""
    pieces = get_scene("boxes").pieces
    world = build_world(CharacterConfig(), pieces)
    qpos = np.tile(world.layout.home_qpos, (T, 1))
    qpos[:, 0] += 0.1 * np.arange(T)
    force, label = np.zeros((T, 18, 3)), np.zeros((T, 18, 3))
    foot = world.layout.links.index("left_foot")
    force[2:5, foot, 1], label[3:6, foot, 1] = 300.0, 1.0
    hands = np.tile(np.array([[0.0, 0, 1.6], [0.2, 0.3, 1.0], [0.2, -0.3, 1.0]]), (T, 1, 1))
    off = np.zeros((T, 3, 3))
    off[:, 0, 0], off[:, 1, 1] = 0.1 * np.arange(T), 0.3
    episode = Episode(
        "glide", 36.0, CharacterConfig(), pieces, True, qpos, world.placement(), qpos + 0.01 * (np.arange(39) == 1),
        hands, np.tile([1.0, 0, 0, 0], (T, 3, 1)), hands + off, force, label,
    )  # fmt: skip
    return show_episode(episode, SceneObsConfig())


def test_the_height_map_is_what_the_policy_observes(show: Show) -> None:
    config, engine = EnvConfig().scene_obs, make_engine(show.world, "mujoco")
    turned = np.array(show.world.layout.home_qpos)
    turned[:7] = [0.7, 0.2, 0.95, np.cos(0.4), 0.0, 0.0, np.sin(0.4)]
    clip = dataclasses.replace(standing(scene="boxes"), qpos=np.tile(turned, (2, 1)).astype(np.float32))
    seen = show_clip(clip, config).height_map
    physics = initial_state(show.world, jnp.asarray(turned))
    derived = engine.forward(physics)
    body = body_of(show.world.layout, physics, derived)
    observed = see_scene(config, show.world.layout, derived, body, heading_frame(body))
    np.testing.assert_allclose(seen.points[1, :, 2], np.asarray(observed[: seen.points.shape[1]]), atol=1e-5)
    assert all(np.isclose(seen.points[1, :, 2], height, atol=1e-5).any() for height in (0.0, 0.18, 0.45))
    assert show_clip(clip, SceneObsConfig(kind="none")).height_map is None


def test_errors_and_contacts_are_the_episodes(show: Show) -> None:
    np.testing.assert_allclose(show.error[4], [0.4, 0.3, 0.0])
    assert np.flatnonzero(show.touch[:, :, 1].any(axis=1)).tolist() == [2, 3, 4]
    assert np.flatnonzero(show.label[:, :, 1].any(axis=1)).tolist() == [3, 4, 5]


@pytest.fixture
def server():
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server
    server.stop()


def test_a_stage_moves_blinks_follows_and_hides(server: viser.ViserServer, show: Show) -> None:
    other = dataclasses.replace(show, title="short", user_pos=show.user_pos[:4], fps=36.0)
    stage = Stage(server, [show, other], Arrangement(beside=0.5, apart=1.5))
    at = dict(server.scene._handle_from_node_name)
    shell = next(h for n, h in at.items() if n.startswith("/stage/a/contacts/left_foot on low"))
    on = []
    for frame in range(T):
        stage.at(frame / 36)
        on.append(shell.visible)
        np.testing.assert_allclose(at["/stage/a/simulated/pelvis"].position, show.root()[frame], atol=STEP)
    assert on == [False, False, True, True, True, False, False, False, False]
    np.testing.assert_allclose(at["/stage/b/simulated/pelvis"].position, show.root()[3], atol=STEP)  # its last frame
    np.testing.assert_allclose(at["/stage/b"].position, [0, -1.5, 0])
    np.testing.assert_allclose(at["/stage/a/reference"].position, [0, 0.5, 0])
    assert np.allclose(at["/stage"].position, 0)
    stage.arrange(Arrangement(follow=True))
    assert at["/stage"].position[0] < -0.1
    assert stage.has("height map")
    stage.part("height map", False)
    assert not at["/stage/a/height map"].visible
    assert "touches low" in legend([show])
    assert "&lt;b&gt;" in legend([dataclasses.replace(show, title="<b>")])


@pytest.mark.parametrize(("scene", "part"), [("tilting_chair", "back"), ("office_chair", "upper")])
def test_a_part_that_moves_stands_where_it_is_simulated(server: viser.ViserServer, scene: str, part: str) -> None:
    piece = dataclasses.replace(get_scene(scene).pieces[0], pos=(1.0, 2.0, 0.0), yaw=1.0)
    room = dataclasses.replace(get_scene(scene), pieces=(piece,))
    world = build_world(CharacterConfig(), room.pieces)
    qpos = np.tile(world.layout.home_qpos, (2, 1))
    qpos[1, world.layout.object_qpos] += 0.3
    show = show_clip(make_clip("turned", qpos, room, 1.75, "made for tests", "none"))
    Stage(server, [show], Arrangement()).at(1 / 36)
    at = server.scene._handle_from_node_name
    name = next(n for n in at if n.startswith("/stage/a/room/") and n.endswith(part))
    above = [at[a] for n in range(2, name.count("/") + 1) if (a := "/".join(name.split("/")[:n])) in at]
    assert all(np.allclose(node.position, 0) and np.allclose(node.wxyz, [1, 0, 0, 0]) for node in above)
    body = world.plain.body(f"{piece.name}/{part}").id - 1
    np.testing.assert_allclose(at[name].position, show.body.pos[1, body], atol=STEP)
    np.testing.assert_allclose(at[name].wxyz, show.body.quat[1, body], atol=STEP)


def messages(path: Path) -> tuple[float, list]:
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text()).group(1))
    raw = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
    found = msgspec.msgpack.decode(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    return found["durationSeconds"], found["messages"]


def test_a_page_has_the_motion_in_time(tmp_path: Path, show: Show) -> None:
    size = save_page(tmp_path / "p.html", [show], every=2)
    assert size == (tmp_path / "p.html").stat().st_size < 2e6
    duration, found = messages(tmp_path / "p.html")
    assert duration == pytest.approx(10 / 36)
    moves = [(t, m) for t, m in found if m["type"] == "SetPositionMessage" and m["name"].endswith("simulated/pelvis")]
    assert [round(36 * t) for t, _ in moves] == [0, 2, 4, 6, 8]
    np.testing.assert_allclose([m["position"] for _, m in moves], show.root()[::2], atol=STEP)
    assert "polyline" in (tmp_path / "p.html").read_text()


def test_a_clock_plays_steps_and_begins_again() -> None:
    clock = Clock(2.0, 36.0, speed=2.0)
    clock.advance(0.75)
    assert clock.time == pytest.approx(1.5)
    clock.advance(0.5)
    assert clock.time == pytest.approx(0.5)
    clock.step(1)
    assert clock.frame == 19
    clock.advance(5.0)
    assert clock.frame == 19
    clock.step(None)
    clock.step(-1)
    assert clock.time == 0.0


def test_a_port_in_use_is_an_error_and_a_free_one_is_served(show: Show) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ValueError, match=f"port {taken.getsockname()[1]} is in use"):
            start(taken.getsockname()[1])
    heard = SimpleNamespace(address="", left=2)

    def until() -> bool:
        heard.left -= 1
        return heard.left < 0

    serve([show], 0, ready=lambda address: setattr(heard, "address", address), until=until)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", heard.address)


def view(*words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_interrupting_the_command_ends_it_cleanly(tmp_path: Path) -> None:
    save_clip(tmp_path / "standing.npz", standing())
    process = view(str(tmp_path / "standing.npz"), "--port", "0")
    assert "open http://127.0.0.1:" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, "ended" in out, "Traceback" in err) == (0, True, False)


@pytest.mark.slow
def test_what_is_not_there_is_an_error_that_lists_what_is(tmp_path: Path) -> None:
    _, err = (process := view("nowhere", "--root", str(tmp_path))).communicate()
    assert process.returncode == 2
    assert all(word in err for word in ("nowhere", "shipped weights are", "built-in clips are", "walk"))
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_browser_plays_the_page(tmp_path: Path, show: Show) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(p).exists()), None)
    if chromium is None:
        pytest.skip("no chromium here")
    save_page(tmp_path / "p.html", [show], every=1)
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page()
        asked = []
        page.on("request", lambda r: asked.append(r.url) if r.url.startswith("http") else None)
        page.goto((tmp_path / "p.html").as_uri())
        page.wait_for_selector("[role=slider]", state="attached", timeout=60_000)  # its thumb is never drawn
        last = float(page.locator("[role=slider]").first.get_attribute("aria-valuemax"))
        assert page.get_by_text("touches low").count() == 1
        browser.close()
    assert last == pytest.approx(T / 36)
    assert json.dumps(asked) == "[]"  # nothing is loaded from elsewhere
