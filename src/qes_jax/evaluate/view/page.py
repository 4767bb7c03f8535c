"""One or two motions as one HTML file to share, viser's client inside: it needs no network and no server."""

import contextlib
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
import viser

from qes_jax.evaluate.view.guard import start
from qes_jax.evaluate.view.palette import body_color, css, legend
from qes_jax.evaluate.view.show import Show
from qes_jax.evaluate.view.stage import Arrangement, Stage
from qes_jax.files import replacing

HINT = "space plays and pauses; the tree below right shows and hides parts"
WIDTH, HEIGHT = 250, 64  # [px] of the curve of the error


def save_page(path: Path, shows: Sequence[Show], every: int = 2, arrangement: Arrangement | None = None) -> int:
    """Write every `every`-th frame with time line, legend and errors. Returns the file's size [bytes]."""
    with contextlib.redirect_stdout(io.StringIO()):  # it tells the address of a server that nobody is to visit
        server = start(0)
        try:
            html = _record(server, shows, every, arrangement)
        finally:
            server.stop()
    with replacing(path) as aside:
        aside.write_text(_with_overlay(html, shows), encoding="utf-8")
    return path.stat().st_size


def _record(server: viser.ViserServer, shows: Sequence[Show], every: int, arrangement: Arrangement | None) -> str:
    stage = Stage(server, shows, arrangement)
    recorder = server.get_scene_serializer()
    step = every / stage.fps
    for number in range(int(stage.duration / step + 1e-6) + 1):
        stage.at(number * step)
        recorder.insert_sleep(step)
    return recorder.as_html()


def _with_overlay(html: str, shows: Sequence[Show]) -> str:
    title = " | ".join(s.title for s in shows)
    overlay = f"<details open style='{_BOX}'><summary style='cursor:pointer'><b>{escape(title)}</b></summary>"
    overlay += f"{legend(shows)}{_curves(shows)}<div style='color:#777;margin-top:4px'>{HINT}</div></details>"
    end = html.rindex("</body>")
    html = html[:end] + overlay + html[end:]
    return html.replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1)


def _curves(shows: Sequence[Show]) -> str:
    """The errors over time as SVG, with a line where the time line stands."""
    curves = [(i, s, 100 * s.error.mean(axis=1)) for i, s in enumerate(shows) if s.error is not None]
    if not curves:
        return ""
    top = max(5.0, max(float(np.nanmax(e)) for *_, e in curves))
    duration = max(s.duration for s in shows)
    lines = []
    for i, show, error in curves:
        kept = np.unique(np.linspace(0, len(error) - 1, min(len(error), 2 * WIDTH)).astype(int))
        at = " ".join(
            f"{WIDTH * t / show.fps / duration:.1f},{HEIGHT * (1 - e / top):.1f}"
            for t, e in zip(kept, error[kept], strict=True)
        )
        lines.append(f"<polyline points='{at}' fill='none' stroke='{css(body_color(i))}' stroke-width='1.4'/>")
    cursor = f"<line id='now' y1='0' y2='{HEIGHT}' stroke='#c33'/>"
    frame = f"<svg width='{WIDTH}' height='{HEIGHT}' style='background:#f6f7f9;margin-top:6px;display:block'>"
    caption = f"<div>mean error of headset and controllers, 0 to {top:.0f} cm, {duration:.1f} s</div>"
    return frame + "".join(lines) + cursor + "</svg>" + caption + _CURSOR.replace("WIDTH", str(WIDTH))


_BOX = (
    "position:fixed;right:12px;top:12px;z-index:5;padding:8px 12px;border-radius:6px;background:rgba(255,255,255,.88);"
    "color:#333;box-shadow:0 1px 5px rgba(0,0,0,.18);font:12px system-ui,sans-serif"
)
_CURSOR = """<script>
setInterval(() => {
  const slider = document.querySelector("[role=slider]"), now = document.getElementById("now");
  if (!slider) return;
  const x = WIDTH * slider.getAttribute("aria-valuenow") / slider.getAttribute("aria-valuemax");
  now.setAttribute("x1", x); now.setAttribute("x2", x);
}, 100);
</script>"""
