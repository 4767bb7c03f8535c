"""The import command, from a file to a clip and a report."""

import json
from pathlib import Path

import pytest

from experiments.import_motion import Options, main
from qes_jax.motion.clip import load_clip

KEYS = {
    "mean_error_cm", "p95_error_cm", "foot_skate_cm", "floor_penetration_cm", "object_penetration_cm", "seconds", "fps",
}  # fmt: skip


@pytest.mark.slow
def test_a_walk_becomes_a_clip(recordings: Path, tmp_path: Path) -> None:
    fixes = tmp_path / "fix.txt"
    fixes.write_text("frames 0-5: head floor on\n")
    walk = recordings / "deepmimic" / "humanoid3d_walk.txt"
    out, report = tmp_path / "walk.npz", tmp_path / "walk.json"
    main(Options(walk, out=out, json=report, repeat=2, start=0.5, end=2.0, corrections=fixes))
    clip, result = load_clip(out), json.loads(report.read_text())
    assert set(result) >= KEYS
    assert clip.n_frames == 55 and clip.licence == "MIT" and clip.source == walk.name
    assert clip.contact[:6, clip_link("head"), 0].all() and not clip.contact[6:, clip_link("head")].any()
    assert result["mean_error_cm"] < 2 and result["foot_skate_cm"] < 0.5 and result["floor_penetration_cm"] < 1


def clip_link(name: str) -> int:
    from qes_jax.model.world import build_world

    return build_world().layout.links.index(name)
