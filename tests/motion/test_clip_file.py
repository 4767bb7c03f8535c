"""A clip file that is not as it should be is refused with its name and the field, whatever is wrong with it."""

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from qes_jax.authoring.quality import judge
from qes_jax.evaluate.episode import load_episode
from qes_jax.evaluate.glb import write_glb
from qes_jax.evaluate.view.show import show_clip
from qes_jax.evaluate.weights import load_policy
from qes_jax.model.scene import Piece, Scene
from qes_jax.motion.clip import Clip, ClipError, DoubtfulClip, load_clip, save_clip
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.sensors import load_track


def small() -> Clip:
    """Three frames of two links: no character of ours, but sound in itself."""
    quat = np.tile(np.float32([1, 0, 0, 0]), (3, 2, 1))
    qpos = np.tile(np.float32([0, 0, 1, 1, 0, 0, 0, 0]), (3, 1))
    return Clip(
        "small", "made up", "none", 36.0, 1.75, Scene("flat"), qpos, np.zeros((3, 7), np.float32),
        np.zeros((3, 2, 3), np.float32), quat, np.zeros((3, 2, 1), np.uint8),
        np.zeros((3, 3, 3), np.float32), np.tile(quat[:, :1], (1, 3, 1)),
    )  # fmt: skip


def meta(change: Callable[[dict], object]) -> Callable[[dict], None]:
    def edit(arrays: dict) -> None:
        content = json.loads(str(arrays["meta"]))
        change(content)
        arrays["meta"] = np.array(json.dumps(content))

    return edit


def test_a_doubt_stays_with_its_clip_and_is_told(tmp_path: Path) -> None:
    save_clip(tmp_path / "a.npz", dataclasses.replace(small(), doubt="far from the joints"))
    with pytest.warns(DoubtfulClip, match=r"a\.npz: in doubt since its import: far from the joints"):
        assert load_clip(tmp_path / "a.npz").doubt == "far from the joints"


def test_a_clip_from_before_doubts_is_read(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    save_clip(tmp_path / "a.npz", small())
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    meta(lambda m: m.pop("doubt"))(arrays)
    np.savez(tmp_path / "b.npz", **arrays)
    assert load_clip(tmp_path / "b.npz").doubt == "" and not recwarn.list


DAMAGES = {
    "doubt is 3": meta(lambda m: m.update(doubt=3)),
    "field meta: missing .*'name'": meta(lambda m: m.pop("name")),
    "field meta: .*'colour'": meta(lambda m: m.update(colour=1)),
    "fps is '36'": meta(lambda m: m.update(fps="36")),
    "height is None": meta(lambda m: m.update(height=None)),
    "field meta: 'pieces'": meta(lambda m: m["scene"].pop("pieces")),
    r"qpos is float64 of shape \(\)": lambda a: a.update(qpos=np.array(1.0)),
    r"qpos is float32 of shape \(3,\)": lambda a: a.update(qpos=a["qpos"][:, 0]),
    "qpos has 3 columns": lambda a: a.update(qpos=a["qpos"][:, :3]),
    "sensor_pos is <U1": lambda a: a.update(sensor_pos=np.full((3, 3, 3), "a")),
}


@pytest.mark.parametrize("words", DAMAGES)
def test_a_wrong_field_is_named(tmp_path: Path, words: str) -> None:
    path = tmp_path / "a.npz"
    save_clip(path, small())
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    DAMAGES[words](arrays)
    np.savez(path, **arrays)
    with pytest.raises(ClipError, match=rf"a\.npz: {words}"):
        load_clip(path)


@pytest.mark.parametrize("load", [load_clip, load_track, load_policy, load_episode])
def test_bytes_changed_anywhere_are_at_most_a_value_error(tmp_path: Path, load: Callable[[Path], object]) -> None:
    path = tmp_path / "a.npz"
    save_clip(path, small())
    whole, random = path.read_bytes(), np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), 4):
            damaged[place] = random.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            load(path)
        except ValueError as error:
            assert "a.npz" in str(error)


def test_links_of_another_body_are_not_exported() -> None:
    with pytest.raises(ClipError, match="'small': 2 links, the character has 18"):
        clip_skeleton(small())


@pytest.mark.parametrize("use", [show_clip, judge, partial(write_glb, Path("nowhere.glb"))])
def test_the_motion_of_another_body_is_told_in_one_way(use: Callable[[Clip], object]) -> None:
    with pytest.raises(ClipError, match="'small': 2 links, the character has 18"):
        use(small())
    links = dataclasses.replace(small(), link_pos=np.zeros((3, 18, 3)))
    with pytest.raises(ClipError, match=r"'small': qpos has \d+ columns, the character in its scene 39"):
        use(links)


def test_a_piece_needs_a_name() -> None:
    with pytest.raises(ValueError, match="must be distinct, not ''"):
        Scene("room", (Piece("", "chair"),))
