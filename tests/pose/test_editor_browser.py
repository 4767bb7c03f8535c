"""The editor's window in a headless browser: a hand is clicked, dragged, seen to move, and brought back."""

import http.client
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

REPO = Path(__file__).resolve().parents[2]
CHROMIUM = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(p).exists()), None)
CAMERA, LOOK_AT, FOV = np.array([2.3, 1.5, 1.45]), np.array([0.0, 0.0, 0.85]), 0.75  # as the stage has them
RIGHT_WRIST, LEFT_WRIST = (-0.02, -0.507, 0.958), (-0.02, 0.507, 0.958)  # in the A-pose [m]
PATIENCE = 120_000  # [ms] a machine without a graphics card draws slowly


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, str(REPO / "experiments" / "edit_pose.py"), "--port", "0", "--prior", "no"]
    folder = tmp_path_factory.mktemp("editor")
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


def height(page) -> float:
    """The third of the fields x y z."""
    return float(page.locator("input[inputmode=decimal]").nth(2).input_value())


def wait_until(true, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_hand_is_clicked_dragged_and_brought_back(address: str, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = p.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_page(viewport={"width": 900, "height": 600})
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_selector("canvas")
        wait_until(lambda: page.get_by_text("left wrist, position").count() == 1)
        time.sleep(5)  # meshes arrive
        box = page.locator("canvas").first.bounding_box()
        page.mouse.click(*pixel(RIGHT_WRIST, box))
        wait_until(lambda: page.get_by_text("right wrist, position").count() == 1)
        before = height(page)
        assert before == pytest.approx(RIGHT_WRIST[2], abs=0.01)

        start = np.array(pixel(RIGHT_WRIST + np.array([0.0, 0.0, 0.2]), box))  # on the gizmo's upward arrow
        page.mouse.move(*start)
        page.mouse.down()
        for step in range(1, 13):
            page.mouse.move(*(start - [0.0, 5.0 * step]))
            time.sleep(0.1)
        page.mouse.up()
        wait_until(lambda: height(page) > before + 0.1)
        rate = re.search(r"(\d+) solves/s, ([\d.]+) ms each", page.inner_text("body"))
        assert rate is not None and float(rate[2]) < 1000

        page.get_by_role("button", name="undo").click()
        wait_until(lambda: abs(height(page) - before) < 2e-3)
        page.get_by_role("button", name="redo").click()
        wait_until(lambda: height(page) > before + 0.1)
        browser.close()


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
