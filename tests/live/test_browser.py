"""The page in a headless browser that emulates a headset: enter VR, walk, recentre, lose tracking, leave, come back."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qes_jax.live.built import PAGE

REPO = Path(__file__).resolve().parents[2]
CHROMIUM = next((p for p in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(p).exists()), None)
EMULATOR = PAGE / "node_modules" / "iwer" / "build" / "iwer.min.js"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--enable-unsafe-swiftshader"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PATIENCE = 120.0  # [s] a machine without a graphics card draws slowly
HEADSET = """
const device = new IWER.XRDevice(IWER.metaQuest3);
device.installRuntime({ forceInstall: true });
device.stereoEnabled = false;
window.device = device;
window.put = (x, z) => {
  device.position.set(x, 1.64, z - 0.08);
  device.controllers.left.position.set(x - 0.26, 0.79, z + 0.02);
  device.controllers.right.position.set(x + 0.26, 0.79, z + 0.02);
};
window.walk = (metres, seconds) => {
  const start = performance.now();
  const step = setInterval(() => {
    const share = Math.min(1, (performance.now() - start) / 1000 / seconds);
    put(0, -metres * share);
    if (share === 1) clearInterval(step);
  }, 15);
};
put(0, 0);
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("live")
    command = [sys.executable, str(REPO / "experiments" / "live.py"), "rooms", "--scene", "flat", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--people", str(folder / "people")], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = next((line for line in process.stdout if line.startswith("open ")), "")
    yield line.split()[1]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) in (0, 130)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install qes_jax[browser]"
    )
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    if not EMULATOR.is_file():
        pytest.skip(f"no {EMULATOR}: npm ci in {PAGE}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def open_page(browser: Any, address: str) -> tuple[Any, list[str]]:
    """A page with an emulated headset, and what goes wrong on it."""
    page, wrong = browser.new_page(viewport={"width": 320, "height": 240}), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.add_init_script(EMULATOR.read_text() + ";" + HEADSET)
    page.goto(address)
    until(page, lambda: page.evaluate("document.body.dataset.connected") == "yes")
    return page, wrong


def until(page: Any, true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, words(page)
        page.wait_for_timeout(100)


def words(page: Any) -> str:
    return " | ".join(page.evaluate(f"document.getElementById('{i}').textContent") for i in ("phase", "say", "note"))


def press(page: Any, button: str) -> None:
    page.evaluate(f"document.getElementById('{button}').click()")


def phase(page: Any) -> str:
    return page.evaluate("document.body.dataset.phase ?? ''")


def test_a_session_in_an_emulated_headset(browser: Any, address: str) -> None:
    page, wrong = open_page(browser, address)
    until(page, lambda: page.evaluate("!document.getElementById('enter').disabled"))
    press(page, "enter")
    until(page, lambda: page.evaluate("document.body.dataset.vr") == "yes" and phase(page) == "live")

    page.evaluate("walk(0.5, 2.5)")
    page.wait_for_timeout(3500)
    until(page, lambda: phase(page) == "live")

    page.evaluate("device.controllers.left.connected = false")
    until(page, lambda: "left controller" in page.evaluate("document.body.dataset.held ?? ''"))
    page.evaluate("device.controllers.left.connected = true")
    until(page, lambda: "left controller" not in page.evaluate("document.body.dataset.held ?? ''"))

    page.evaluate("device.recenter()")
    until(page, lambda: "moved its origin" in words(page))

    page.evaluate("device.updateVisibilityState('hidden')")
    until(page, lambda: phase(page) == "away")
    page.evaluate("device.updateVisibilityState('visible')")
    until(page, lambda: phase(page) == "live")

    page.close()  # the connection breaks off
    again, more = open_page(browser, address)
    until(again, lambda: phase(again) == "away")
    press(again, "enter")
    until(again, lambda: phase(again) == "live")
    assert wrong + more == []
    again.close()


def test_the_mouse_moves_the_body(browser: Any, address: str) -> None:
    page, wrong = open_page(browser, address)
    until(page, lambda: phase(page) in ("away", "waiting", "live", "still"))
    page.wait_for_timeout(3500)  # until who was here before is taken to be gone
    press(page, "mouse")
    until(page, lambda: phase(page) == "live")
    assert wrong == []
    page.close()
