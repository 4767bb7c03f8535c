"""The editor's window in a headless browser: a hand is clicked, dragged, seen to move, and brought back."""

import http.client
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qes_jax.motion.clip import load_clip
from qes_jax.motion.formats.read import read_recording

REPO = Path(__file__).resolve().parents[2]
CHROMIUM = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(p).exists()), None)
CAMERA, LOOK_AT, FOV = np.array([2.3, 1.5, 1.45]), np.array([0.0, 0.0, 0.85]), 0.75  # as the stage has them
RIGHT_WRIST, LEFT_WRIST = (-0.02, -0.507, 0.958), (-0.02, 0.507, 0.958)  # in the A-pose [m]
NUMBER = "input[inputmode=decimal]"
PATIENCE = 120_000  # [ms] a machine without a graphics card draws slowly


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the editor runs, and writes."""
    return tmp_path_factory.mktemp("editor")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    command = [sys.executable, str(REPO / "experiments" / "edit_pose.py"), "--port", "0", "--prior", "no"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = next((line for line in process.stdout if line.startswith("open ")), "")
    yield line.split()[1]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0


def pixel(place, box: dict) -> tuple[float, float]:
    """Where a place (3,) [m] is seen on the page, by the camera's first pose, in the canvas's box."""
    ahead = (LOOK_AT - CAMERA) / np.linalg.norm(LOOK_AT - CAMERA)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    way = np.asarray(place) - CAMERA
    scale = 0.5 * box["height"] / np.tan(FOV / 2) / (way @ ahead)
    x, y = scale * (way @ right), scale * (way @ np.cross(right, ahead))
    return box["x"] + box["width"] / 2 + x, box["y"] + box["height"] / 2 - y


def fields(page) -> tuple[float, ...]:
    """What stands in the fields x y z."""
    return tuple(float(page.locator(f"{NUMBER}:visible").nth(i).input_value()) for i in range(3))


def height(page) -> float:
    """The third of them."""
    return fields(page)[2]


def enter(page, number: int, value: float) -> None:
    """Type into one of the fields that are seen."""
    field = page.locator(f"{NUMBER}:visible").nth(number)
    field.fill(f"{value:g}")
    field.press("Enter")


def choose(page, number: int, word: str) -> None:
    """Of one of the lists that are seen."""
    page.locator("input[role=combobox]:visible").nth(number).click()
    page.get_by_role("option", name=word, exact=True).click()


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def go_to(page, tab: str) -> None:
    page.get_by_role("tab", name=tab).click()
    time.sleep(0.5)


def says(page, words: str) -> bool:
    return words in page.inner_text("body")


def wait_until(true, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    with playwright.sync_playwright() as p:
        options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = p.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def page(address: str, browser) -> Iterator[Any]:
    """The editor's page, with the start pose and the left wrist chosen."""
    page = browser.new_page(viewport={"width": 900, "height": 600})
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector("canvas")
    press(page, "reset")
    choose(page, 0, "left_wrist")
    wait_until(lambda: says(page, "left wrist, position"))
    yield page
    page.close()


@pytest.mark.slow
def test_a_hand_is_clicked_dragged_and_brought_back(page) -> None:
    time.sleep(5)  # meshes arrive
    box = page.locator("canvas").first.bounding_box()
    page.mouse.click(*pixel(RIGHT_WRIST, box))
    wait_until(lambda: says(page, "right wrist, position"))
    before = height(page)
    assert before == pytest.approx(RIGHT_WRIST[2], abs=0.01)

    start = np.array(pixel(RIGHT_WRIST + np.array([0.0, 0.0, 0.2]), box))  # on the gizmo's upward arrow
    page.mouse.move(*start)
    page.mouse.down()
    for step in range(120):  # until it has been solved twice: few drags arrive where pages are drawn slowly
        page.mouse.move(*(start - [0.0, min(5.0 * step, 60.0 + step % 2)]))
        time.sleep(0.1)
        if step > 12 and says(page, "solves/s"):
            break
    page.mouse.up()
    wait_until(lambda: height(page) > before + 0.1)
    rate = re.search(r"(\d+) solves/s, ([\d.]+) ms each", page.inner_text("body"))
    assert rate is not None and float(rate[2]) < 1000

    press(page, "undo")
    wait_until(lambda: abs(height(page) - before) < 2e-3)
    press(page, "redo")
    wait_until(lambda: height(page) > before + 0.1)


@pytest.mark.slow
def test_a_rotation_and_a_look_are_entered_as_numbers(page) -> None:
    choose(page, 1, "rotation")
    wait_until(lambda: says(page, "left wrist, rotation"))
    before = fields(page)
    enter(page, 0, before[0] + 25.0)
    wait_until(lambda: abs(fields(page)[0] - before[0] - 25.0) < 0.5)
    press(page, "undo")
    wait_until(lambda: abs(fields(page)[0] - before[0]) < 0.2)

    choose(page, 0, "head")
    choose(page, 1, "look at")
    wait_until(lambda: says(page, "head, look at"))
    assert abs(fields(page)[1]) < 0.02
    enter(page, 1, 0.6)
    wait_until(lambda: fields(page)[1] > 0.4)  # the point ahead of the face
    choose(page, 1, "position")


@pytest.mark.slow
def test_both_hands_rise_in_symmetry_and_the_pose_comes_back_from_the_library(page, folder: Path) -> None:
    page.get_by_label("symmetric").check()
    enter(page, 2, 1.15)
    wait_until(lambda: abs(height(page) - 1.15) < 2e-3)
    choose(page, 0, "right_wrist")
    wait_until(lambda: says(page, "right wrist, position") and abs(height(page) - 1.15) < 2e-3)

    go_to(page, "Library")
    page.locator("input.mantine-TextInput-input:visible").first.fill("both up", timeout=20000)
    time.sleep(1.0)
    press(page, "save this pose")
    wait_until(lambda: (folder / "poses" / "both up.json").is_file())
    go_to(page, "Pose")
    press(page, "reset")
    wait_until(lambda: abs(height(page) - RIGHT_WRIST[2]) < 0.01)
    go_to(page, "Library")
    press(page, "load")
    go_to(page, "Pose")
    wait_until(lambda: abs(height(page) - 1.15) < 2e-3)


@pytest.mark.slow
def test_two_key_poses_become_a_clip_and_files_for_other_programs(page, folder: Path) -> None:
    go_to(page, "Motion")
    press(page, "set key pose at this time")
    wait_until(lambda: says(page, "key pose at 0 s"))
    go_to(page, "Pose")
    enter(page, 2, 1.3)
    wait_until(lambda: abs(height(page) - 1.3) < 2e-3)
    go_to(page, "Motion")
    press(page, "set key pose at this time")
    wait_until(lambda: says(page, "key pose at 1 s"))
    press(page, "save clip, BVH and GLB")
    wait_until(lambda: says(page, "saved my_motion.npz"), seconds=300)
    clip = load_clip(folder / "clips" / "my_motion.npz")
    assert clip.n_frames == 37 and clip.contact[:, :, 0].any()
    (_, bvh), glb = read_recording(folder / "clips" / "my_motion.bvh"), folder / "clips" / "my_motion.glb"
    assert len(bvh.points) == 37 and glb.read_bytes()[:4] == b"glTF"


@pytest.mark.slow
def test_what_sinks_into_the_floor_is_told_and_lifted_out(page) -> None:
    wait_until(lambda: says(page, "inside the support"))
    choose(page, 0, "root")
    wait_until(lambda: says(page, "root, position"))
    enter(page, 2, -0.06)
    wait_until(lambda: says(page, "cm in floor"))
    press(page, "to the floor")
    wait_until(lambda: not says(page, "cm in floor"))


@pytest.mark.slow
def test_only_pages_of_its_own_are_answered(address: str) -> None:
    port = int(address.rsplit(":", 1)[1])

    def status(**headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/", headers={k.replace("_", "-"): v for k, v in headers.items()})
        return connection.getresponse().status

    upgrade = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec_WebSocket_Protocol": "viser-v0",
    }  # fmt: skip
    own = f"127.0.0.1:{port}"
    assert status() == status(Host=f"localhost:{port}") == status(Origin=f"http://{own}") == 200
    assert status(Host="evil.example") == status(Host=f"evil.example:{port}") == status(Host="127.0.0.1:1") == 403
    assert status(Origin="https://evil.example") == status(Origin="null") == 403
    assert status(**upgrade, Origin="http://evil.example") == 403
    assert status(**upgrade, Origin=f"http://{own}") == 101
    assert status(**upgrade) == 101  # not a browser


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(address: str, tmp_path: Path) -> None:
    port = address.rsplit(":", 1)[1]
    command = [sys.executable, str(REPO / "experiments" / "edit_pose.py"), "--port", port, "--prior", "no"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2
    assert f"port {port} is in use" in result.stderr and "Traceback" not in result.stderr
