"""Lines of metrics: exact, cut back at a resume, readable after a kill."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qes_jax.runs.metrics import MetricsWriter, comparable, read_metrics, truncate_lines


def write(path: Path, n: int, start: int = 0) -> None:
    writer = MetricsWriter(path, start)
    for i in range(start, n):
        writer.write({"iteration": i, "x": 0.1 * i})
    writer.sync()
    writer.close()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float32_comes_back_to_the_bit(tmp_path_factory: pytest.TempPathFactory, x: float) -> None:
    path = tmp_path_factory.mktemp("m") / "metrics.jsonl"
    writer = MetricsWriter(path)
    writer.write({"x": np.asarray(x, np.float32).item()})
    writer.close()
    (row,) = read_metrics(path)
    assert np.float32(row["x"]).tobytes() == np.float32(x).tobytes()


@pytest.mark.parametrize("tail", ["", '{"iteration": 5, "x"', '{"iteration": 5, "x": 1.0}\n{"iter'])
def test_reopening_drops_what_came_after(tmp_path: Path, tail: str) -> None:
    path, whole = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write(path, 5)
    with path.open("a") as file:
        file.write(tail)
    write(path, 7, start=3)
    write(whole, 7)
    assert path.read_bytes() == whole.read_bytes()


def test_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write(path, 2)
    with path.open("a") as file:
        file.write('{"iteration": 2, "x": 0.')
    assert [row["iteration"] for row in read_metrics(path)] == [0, 1]


def test_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"x": 1}\nnonsense\n{"x": 2}\n')
    with pytest.raises(ValueError, match="line 2"):
        read_metrics(path)


def test_fewer_lines_than_the_checkpoint_counts_on(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write(path, 2)
    with pytest.raises(ValueError, match="counts on 3 lines, the file has 2"):
        truncate_lines(path, 3)


def test_not_finite_is_null_and_the_clock_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    writer = MetricsWriter(path)
    writer.write({"iteration": 1, "x": float("nan"), "time/wall_s": 3.0})
    writer.close()
    (row,) = read_metrics(path)
    assert comparable(row) == {"iteration": 1, "x": None}
