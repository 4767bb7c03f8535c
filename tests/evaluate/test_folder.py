"""A folder of strangers' files: what is a recording, what is kept, how batches follow, and what the report says."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.evaluate.folder.follow import CLIPS, ByThreshold, Follower, batches, follow_batch, look_at, make_follower
from qes_jax.evaluate.folder.groups import by_group, labels, page
from qes_jax.evaluate.folder.recordings import Imported, Refused, find_recordings, import_all, import_one
from qes_jax.evaluate.folder.run import follow_all, gather, write_report
from qes_jax.evaluate.metrics import scores
from qes_jax.evaluate.rollout import select, track
from qes_jax.evaluate.starts import continued, even_starts
from qes_jax.evaluate.tables import as_values, from_values
from qes_jax.motion.clip import load_clip, save_clip
from qes_jax.motion.library import rescale_clip
from tests.evaluate.standing import hold, params_for, shifted, standing, task_for
from tests.evaluate.test_metrics import FPS, four, tracked  # noqa: F401

POLICY = jnp.zeros(())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Clips in two sub-folders, one whose user leaps away, one of another height; and files that are none."""
    root = tmp_path / "recordings"
    save_clip(root / "calm" / "stand_1.npz", standing(0.5))
    save_clip(root / "calm" / "stand_2.npz", standing(1.0))
    leap = replace(shifted(standing(1.0), "leap", 0.2, 3.0), body_known=False)
    save_clip(root / "wild" / "leap_1.npz", leap)
    save_clip(root / "wild" / "leap_2.npz", rescale_clip(leap, 1.6))
    (root / "calm" / "stand_1.json").write_text("{}")  # an import's report
    (root / "README.md").write_text("no recording")
    (root / "broken.bvh").write_text("HIERARCHY\nROOT hips\n")
    (root / "strange.c3d").write_bytes(b"\x00\x50")
    return root


def test_recordings_are_found_at_any_depth_and_an_even_sample_on_demand(folder: Path) -> None:
    names = ["broken.bvh", "calm/stand_1.npz", "calm/stand_2.npz", "strange.c3d", "wild/leap_1.npz", "wild/leap_2.npz"]
    assert [p.relative_to(folder).as_posix() for p in find_recordings(folder)] == names
    assert [p.relative_to(folder).as_posix() for p in find_recordings(folder, 3)] == names[::2]
    with pytest.raises(FileNotFoundError, match="no such folder"):
        find_recordings(folder / "nowhere")
    (folder / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no recording"):
        find_recordings(folder / "empty")


def test_a_clip_stays_where_it_is_and_another_height_is_scaled_once(folder: Path, tmp_path: Path) -> None:
    found = {x.name: x for x in import_all(find_recordings(folder), folder, 1.75, tmp_path / "kept")}
    assert found["calm/stand_1"] == Imported("calm/stand_1", folder / "calm" / "stand_1.npz", fresh=False)
    scaled = found["wild/leap_2"]
    assert isinstance(scaled, Imported) and scaled.fresh
    assert load_clip(scaled.clip).height == 1.75
    again = import_one(folder / "wild" / "leap_2.npz", folder, 1.75, tmp_path / "kept")
    assert again == replace(scaled, fresh=False)
    for name, words in {"broken.bvh": "line", "strange.c3d": "unknown format"}.items():
        refused = found[name]
        assert isinstance(refused, Refused) and words in refused.reason
        assert str(folder) not in refused.reason and "\n" not in refused.reason


def test_a_cached_clip_that_is_broken_is_made_anew(folder: Path, tmp_path: Path) -> None:
    path = folder / "wild" / "leap_2.npz"
    first = import_one(path, folder, 1.75, tmp_path)
    first.clip.write_bytes(b"half a fi")
    again = import_one(path, folder, 1.75, tmp_path)
    assert again == first and again.fresh


@pytest.mark.slow
def test_real_recordings_of_every_kind_become_clips(recordings: Path, tmp_path: Path) -> None:
    root = tmp_path / "all"
    for name in ("cmu/02_01.amc", "cmu/02.asf", "deepmimic/humanoid3d_jump.txt", "vr/aframe_grab_left.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(recordings / name, root / name)
    found = list(import_all(find_recordings(root), root, 1.75, tmp_path / "kept"))
    assert [x.name for x in found] == ["cmu/02_01", "deepmimic/humanoid3d_jump", "vr/aframe_grab_left"]
    clips = [load_clip(x.clip) for x in found if isinstance(x, Imported)]
    assert [c.body_known for c in clips] == [True, True, False]
    assert {c.height for c in clips} == {1.75}


def follower(root: Path, files: list[str], n_starts: int = 3) -> tuple[Follower, list]:
    clips = [look_at(f, root / f"{f}.npz") for f in files]
    task = task_for()
    return make_follower(task, params_for(standing()).mean_pose, hold, POLICY, clips, n_starts, 1.0), clips


def test_a_batch_gives_each_clip_what_it_has_alone(folder: Path) -> None:
    names = ["calm/stand_1", "wild/leap_1", "calm/stand_2"]
    follow, clips = follower(folder, names)
    found = follow_batch(follow, clips)
    for known, values in zip(clips, found, strict=True):
        clip = load_clip(known.path)
        longer = continued([clip], 1.0)
        alone = track(task_for(), params_for(*longer), hold, POLICY, even_starts(np.arange(clip.n_frames), 3), 36)
        expected = scores(alone, 0.5, 36.0)
        assert values[0.5].n == 3
        np.testing.assert_allclose(values[0.5].to_end.value, expected.to_end.value)
        np.testing.assert_allclose(values[0.5].error_cm.value, expected.error_cm.value, rtol=1e-3)
        np.testing.assert_allclose(values[0.5].watt.value, expected.watt.value, rtol=0.02)
    assert [v[0.5].to_end.value for v in found] == [1.0, 0.0, 1.0]


def test_batches_hold_all_clips_in_order_and_never_more_than_fit(folder: Path) -> None:
    follow, clips = follower(folder, ["calm/stand_1", "calm/stand_2"])
    many = [replace(clips[i % 2], name=str(i)) for i in range(50)]
    parts = list(batches(follow, many))
    assert [c.name for part in parts for c in part] == [str(i) for i in range(50)]
    assert all(len(part) <= CLIPS and sum(c.frames + 39 for c in part) <= follow.frames for part in parts)


def test_groups_are_folders_parts_of_the_name_or_what_an_expression_finds() -> None:
    names = ["a/walk_sad_1", "a/walk_mad_1", "run_sad_2"]
    assert labels(names) == {"folder": ["a", "a", "(top)"]}
    assert labels(names, "1,2") == {"part 1": ["walk", "walk", "run"], "part 2": ["sad", "mad", "sad"]}
    found = labels(names, r"(?P<what>\w+?)_(?P<how>sad|mad)")
    assert found == {"what": ["walk", "walk", "run"], "how": ["sad", "mad", "sad"]}
    assert labels(names, "sad|mad") == {"group": ["sad", "mad", "sad"]}
    assert labels(names, "walk_(.*)_") == {"group 1": ["sad", "mad", "(no match)"]}
    with pytest.raises(ValueError, match="not a regular expression"):
        labels(names, "(")


def test_groups_are_means_over_recordings_and_the_worst_comes_first(four) -> None:  # noqa: F811
    def of(*episodes: int) -> ByThreshold:
        return {t: scores(select(four, np.array(episodes)), t, FPS) for t in (0.8, 0.5)}

    found = [of(0), of(1), of(0, 2), of(0)]
    groups = by_group(["good", "bad", "bad", "good"], found)
    assert list(groups) == ["bad", "good"]
    assert groups["bad"][0.5].n == 2
    assert groups["bad"][0.5].to_end.value == pytest.approx((0 + 1 / 2) / 2)
    text = page({"kind": groups}, ["a", "b", "c", "d"], found, {"x.bvh": "empty"}, 30.0)
    assert text.index("| bad | 2, too few |") < text.index("| good | 2, too few |")
    assert text.index("| b | 1 |") < text.index("| c | 2 |") < text.index("| a | 1 |")
    assert "- x.bvh: empty" in text


def test_values_read_back_are_the_scores(four) -> None:  # noqa: F811
    found = scores(four, 0.5, FPS)
    again = from_values(json.loads(json.dumps(as_values(found))))
    assert as_values(again) == as_values(found)


def test_a_folder_is_reported_and_what_is_done_is_not_done_again(folder: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    gathered = gather(folder, 1.75, tmp_path / "clips", tell=lines.append)
    assert set(gathered.refused) == {"broken.bvh", "strange.c3d"}
    pose = params_for(standing()).mean_pose
    follow = make_follower(task_for(), pose, hold, POLICY, gathered.clips, 3, 1.0)
    found = follow_all(follow, gathered.clips, tmp_path / "kept", lines.append)
    text = write_report(tmp_path, gathered, found, None, {"seconds": 1.0})
    assert text == (tmp_path / "table.md").read_text()
    assert text.index("| wild |") < text.index("| calm |")
    assert (tmp_path / "folder.png").stat().st_size > 1000
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["groups"]["folder"]["calm"]["0.5"]["to_end"] == 1.0
    assert set(data["recordings"]) == {c.name for c in gathered.clips}
    assert any(line.startswith("import 4/6 strange.c3d: NOT READ") for line in lines)
    dead = replace(follow, tracker=None)  # it could not follow anything any more
    assert [as_values(f[0.5]) for f in follow_all(dead, gathered.clips, tmp_path / "kept", lines.append)] == [
        as_values(f[0.5]) for f in found
    ]
    assert lines[-1].startswith("following 0 recordings, 4 are done already")
