"""What is shown while a run goes on."""

import io
import time

import pytest
from rich.console import Console

from qes_jax.runs.progress import Bar, Lines, Rate, clock, make_display, summary


def test_rate_leaves_the_compilation_out() -> None:
    rate = Rate(total=10_000, samples=1_000)
    rate.update(2_000, now=100.0)  # came after a minute of compiling
    assert rate.seconds_left is None
    for i in range(1, 5):
        rate.update(2_000 + 500 * i, now=100.0 + i)
    assert rate.per_s == pytest.approx(500.0)
    assert rate.seconds_left == pytest.approx(6_000 / 500)


def test_summary_shows_what_is_known() -> None:
    rate = Rate(2_000_000, 0)
    assert summary(rate, {}) == "0 of 2.00 M samples, 0/s"
    rate.update(500_000, 0.0)
    rate.update(600_000, 10.0)
    shown = summary(rate, {"eval/mean_tracked_s": 7.31, "eval/error_cm": 4.2})
    assert shown == "0.60 M of 2.00 M samples, 10000/s, 2:20 left, tracked 7.3 s, error 4.2 cm"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (182, "3:02"), (3782, "1:03:02")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_lines_say_that_it_compiles_and_then_come_now_and_then() -> None:
    out = io.StringIO()
    lines = Lines(100, 0, out=out, every=3600.0)
    lines.busy("compiling")
    assert out.getvalue() == "compiling ...\n"
    for i in range(1, 10):
        lines.update(10 * i, {"eval/error_cm": 3.0} if i == 1 else {})
    _, took, line = out.getvalue().splitlines()
    assert took.startswith("compiling took 0.")
    assert line.startswith("10 of 100 samples")
    lines.close()
    assert "90 of 100" in out.getvalue().splitlines()[-1]
    assert out.getvalue().splitlines()[-1].endswith("error 3.0 cm")


def test_bar_moves_while_it_compiles() -> None:
    out = io.StringIO()
    bar = Bar(100, 0, console=Console(file=out, force_terminal=True, width=150))
    bar.busy("compiling")
    time.sleep(1.2)  # nobody calls the bar meanwhile
    bar.update(50, {"tracked_s": 2.0})
    bar.close()
    text = out.getvalue()
    assert "compiling ..." in text
    assert "0:00:01" in text.split("50 of 100")[0]
    assert "tracked 2.0 s" in text


def test_no_terminal_means_lines(capsys: pytest.CaptureFixture[str]) -> None:
    display = make_display(100)
    display.busy("compiling")
    display.close()
    assert "compiling ...\n" in capsys.readouterr().err
