"""The campaign of bad input sees what it is for: each kind of finding, and that good files are none."""

import os
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from qes_jax.assembly.trusting import judge as judging
from qes_jax.assembly.trusting.campaign import signature
from qes_jax.assembly.trusting.guard import limited
from qes_jax.assembly.trusting.judge import FINE, judge
from qes_jax.assembly.trusting.page import page
from qes_jax.assembly.trusting.spoil import BYTES, TEXTS, in_json, spoil
from qes_jax.assembly.trusting.spoil_arrays import spoil_npz
from qes_jax.assembly.trusting.subjects import SUBJECTS, Subject, subject
from qes_jax.assembly.trusting.work import Finding, Watch, attempt, good_files, lay, verdict_of


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def refuses(path: Path) -> None:
    raise ValueError(f"{path}: no good")


def nameless(path: Path) -> None:
    raise ValueError("no good")


def trips(path: Path) -> None:
    raise TypeError(f"{path}: no good")


def hangs(path: Path) -> None:
    while True:
        time.sleep(0.01)


def litters(path: Path) -> float:
    (path.parent / "litter").write_text("x")
    return 1.0


def runs(path: Path) -> float:
    os.system("true")
    return 1.0


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (refuses, "clear error"), (nameless, "unclear error"), (trips, "traceback"), (litters, "written"),
        (runs, "code run"), (lambda path: {"a": [np.array([1.0, np.nan])]}, "not finite"),
        (lambda path: (1.0, np.zeros(3), "nan"), "sound value"),
    ],
)  # fmt: skip
def test_each_kind_is_told(tmp_path: Path, watch: Watch, read, kind: str) -> None:
    (tmp_path / "a.txt").write_text("a")
    one = Subject("any", "a.txt", lambda folder: None, read)
    assert verdict_of(one, tmp_path / "a.txt", tmp_path, watch).kind == kind


def test_what_never_ends_is_ended(tmp_path: Path) -> None:
    with limited(0.1):
        assert judge(hangs, tmp_path / "a", tmp_path).kind == "hang"


@pytest.mark.parametrize("name", ["box, OBJ", "scene, TOML", "configuration", "track", "person", "metrics"])
def test_good_files_are_read_and_spoilt_ones_repeat(tmp_path: Path, watch: Watch, name: str) -> None:
    one = subject(name)
    good = good_files(one, tmp_path / "good")
    folder = tmp_path / "try"
    assert judge(one.read, lay(good, folder) / one.main, folder).kind == "sound value"
    first, again = (attempt(one, good, folder, (0, 1, 2), watch) for _ in range(2))
    assert first == again and first[2] != good


def test_spoilt_bytes_are_others_whatever_they_were() -> None:
    rng = np.random.default_rng(0)
    samples = b'{"a": [1, 2.5, {"b": "c"}]}', b"v 1 2 3\nv 4 5 6\n", bytes(range(256)), b""
    for data in samples:
        made = {spoil(data, rng)[0] for _ in range(60)}
        assert len(made - {data}) >= (1 if not data else 20)
    assert {way.__name__ for way in (*BYTES, *TEXTS, in_json, spoil_npz)} >= {
        "flip",
        "cut",
        "number",
        "in_json",
        "deep",
    }


def test_findings_of_one_cause_have_one_name() -> None:
    a, b = (Finding("clip", n, "traceback", f"KeyError in /tmp/{n}/clip.py: {n}", (), {}) for n in (1, 22))
    assert signature(a) == signature(b)


def test_the_page_counts() -> None:
    counts = {"clip": {"clear error": 7, "sound value": 2, "traceback": 1}}
    text = page(
        {"readers": {"seed": 3, "workers": 2, "seconds": 60, "tried": 10, "per_second": 0.2, "readers": counts,
                     "findings": {"traceback, clip": 1}}}
    )  # fmt: skip
    assert "| clip | 10 | 7 | 2 | 1 traceback |" in text and "**10 files**" in text


def test_names_are_unique() -> None:
    assert len({s.name for s in SUBJECTS}) == len(SUBJECTS) and set(FINE) < set(judging.Kind.__args__)


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "message"),
    [
        ("configuration", "config.json", b'"samples": 4000000', b'"samples": -1', r"config\.json: samples is -1"),
        ("configuration", "config.json", b'"samples": 4000000', b'"samples": NaN', r"config\.json"),
        ("configuration", "config.json", b'"gamma": 0.', b'"gamma": 1e9', r"gamma: expected a finite number"),
        ("metrics", "metrics.jsonl", b"0.5", b"\xff", r"metrics\.jsonl: not text"),
        ("metrics", "metrics.jsonl", b"0.5", b"1e999", r"metrics\.jsonl: line 1 .*not finite"),
        ("scene, MJCF", "scene.xml", b'material name="red"', b'material name="blue"', r"scene\.xml: .*material"),
        ("box, OBJ", "box.obj", b"0.5", b"1e308", r"box\.obj, line 5: a vertex needs three numbers"),
    ],
)  # fmt: skip
def test_what_was_found_is_refused_by_name(
    tmp_path: Path, name: str, file: str, old: bytes, new: bytes, message: str
) -> None:
    one = subject(name)
    good = good_files(one, tmp_path)
    path = lay(good | {file: good[file].replace(old, new, 1)}, tmp_path / "try") / one.main
    with pytest.raises(ValueError, match=message):
        one.read(path)


@pytest.mark.parametrize("name", ["clip", "track", "learner", "policy's weights", "poses", "live session", "episode"])
def test_an_entry_that_is_no_array_or_not_finite_is_refused_by_name(tmp_path: Path, name: str) -> None:
    one = subject(name)
    good = good_files(one, tmp_path)
    with np.load(tmp_path / one.main, allow_pickle=False) as file:
        arrays = {k: file[k] for k in file.files}
    field = next(k for k, x in arrays.items() if x.dtype == np.float32 and x.ndim)
    np.savez(tmp_path / one.main, **arrays | {field: np.full_like(arrays[field], np.nan)})
    with pytest.raises(ValueError, match=one.main):
        one.read(tmp_path / one.main)
    lay(good, tmp_path / "try")
    with zipfile.ZipFile(tmp_path / "try" / one.main, "w") as archive:
        for key in arrays:
            archive.writestr(f"{key}.npy", b"no array")
    with pytest.raises(ValueError, match=one.main):
        one.read(tmp_path / "try" / one.main)
