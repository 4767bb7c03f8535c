"""The pages are built without a warning, have every room and name, and fetch nothing from other hosts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages."""
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=REPO, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_every_room_has_a_page_with_its_functions(site: Path) -> None:
    rooms = {p.parent.name for p in (REPO / "src" / "qes_jax").glob("*/__init__.py")}
    assert rooms and rooms == {p.stem for p in (site / "api").glob("*.html")} - {"index"}
    for name in ("motion.clip.save_clip", "ppo.config.PPOConfig", "assembly.sweeping.grid.read_sweep"):
        page = (site / "api" / f"{name.partition('.')[0]}.html").read_text(encoding="utf-8")
        assert f'id="qes_jax.{name}"' in page


@pytest.mark.slow
def test_every_text_of_the_repository_has_a_page(site: Path) -> None:
    for text in (REPO / "docs").glob("*.md"):
        assert (site / f"{text.stem}.html").is_file()
    assert "one set of engines" in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "experiments" / "results" / "index.html").is_file()


@pytest.mark.slow
def test_nothing_is_fetched_from_other_hosts(site: Path) -> None:
    sources = r'<(?:script|img|iframe)[^>]+src="?(?:https?:)?//'
    linked = r'<link[^>]+rel="?(?:stylesheet|icon|preconnect|preload)[^>]+href="?(?:https?:)?//'
    fetched = re.compile(f"{sources}|{linked}")
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page


@pytest.mark.slow
def test_links_between_the_pages_hold(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            if page.name != "404.html" and ":" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
